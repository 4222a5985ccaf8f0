// Readers beside a running writer, and two writers.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

TEST(Concurrency, ReadersSeeWholeSamplesOnlyAndEverMore) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    constexpr std::uint64_t samples = 150;
    std::atomic<bool> done = false;
    std::atomic<std::size_t> looked_at = 0;  // most samples that the reader has seen
    std::string trouble;
    std::jthread reader([&] {
        trouble = error_of([&] {
            auto file = Store::open(folder / "r.db", Access::read);
            std::size_t seen = 0;
            while (!done) {
                const auto found = file.newest_samples("lazarus/fig8");
                for (const auto& sample : found)
                    if (sample.metrics.size() != 6 || sample.events.size() != 2)
                        throw StoreError("half a sample");
                if (found.size() < seen) throw StoreError("a sample went away");
                looked_at = seen = found.size();
            }
        });
        done = true;
    });
    for (std::uint64_t seed = 0; seed < samples; ++seed) {
        const auto id = store.begin_sample(session, example_spec(seed), key_of(example_spec(seed)));
        store.finish_sample(full_sample(id, session, example_spec(seed)));
        // It has seen some of them when the others come.
        while (seed == samples / 2 && looked_at == 0 && !done) std::this_thread::yield();
    }
    done = true;
    reader.join();
    EXPECT_EQ(trouble, "");
    EXPECT_GT(looked_at, 0u);
    EXPECT_EQ(Store::open(folder / "r.db", Access::read).newest_samples("lazarus/fig8").size(),
              samples);
}

TEST(Concurrency, TwoWritersTakeTurns) {
    Folder folder;
    Store::open(folder / "r.db", Access::write);
    std::vector<std::string> errors(2);
    {
        std::vector<std::jthread> writers;
        for (auto& error : errors)
            writers.emplace_back([&] {
                error = error_of([&] {
                    auto store = Store::open(folder / "r.db", Access::write);
                    const auto session = begin(store);
                    for (std::uint64_t seed = 0; seed < 60; ++seed)
                        add_sample(store, session, example_spec(seed));
                    store.finish_session(session, "finished");
                });
            });
    }
    for (const auto& error : errors) EXPECT_EQ(error, "");
    auto store = Store::open(folder / "r.db", Access::read);
    EXPECT_TRUE(store.check().ok);
    ASSERT_EQ(store.sessions().size(), 2u);
    for (const auto& session : store.sessions()) {
        EXPECT_EQ(session.state, "finished");
        EXPECT_EQ(store.samples(session.id).size(), 60u);
    }
}

}  // namespace
}  // namespace assay::store::testing
