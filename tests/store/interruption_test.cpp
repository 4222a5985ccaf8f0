// Reading that another thread interrupts: it ends with a sentence, and the next reading finds the
// connection as new, wherever the interruption met the one before.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

TEST(Interruption, NextReadingIsAsIfThereHadBeenNone) {
    const Folder folder;
    const auto file = folder / "results.db";
    auto writer = Store::open(file, Access::write);
    const auto session = begin(writer);
    constexpr std::uint64_t samples = 40;
    for (std::uint64_t seed = 1; seed <= samples; ++seed)
        add_sample(writer, session, example_spec(seed));
    const auto reader = Store::open(file, Access::read);

    constexpr int readings = 300;
    int interrupted = 0;
    for (int reading = 0; reading < readings; ++reading) {
        std::atomic<bool> reads{true};
        // Again and again, so that the end of the transaction is met too.
        std::thread other([&] {
            while (reads) reader.interrupt();
        });
        try {
            (void)reader.samples(session);
        } catch (const StoreError&) {
            ++interrupted;
        }
        reads = false;
        other.join();
        ASSERT_EQ(reader.samples(session).size(), samples) << "after reading " << reading;
    }
    EXPECT_GT(interrupted, 0) << "no interruption met a reading: this shows nothing";
}

}  // namespace
}  // namespace assay::store::testing
