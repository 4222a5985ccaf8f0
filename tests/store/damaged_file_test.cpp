// Cut and flipped files: a StoreError or a good answer, never a crash, whatever is read.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

std::string damaged(std::string bytes, std::mt19937_64& random) {
    const auto below = [&](std::size_t bound) {
        return static_cast<std::size_t>(random() % bound);
    };
    switch (random() % 4) {
        case 0:
            bytes.resize(below(bytes.size()));
            break;
        case 1:
            for (int i = 0; i < 20; ++i) bytes[below(bytes.size())] = static_cast<char>(random());
            break;
        case 2: {  // a page that was never written
            const auto page = below(bytes.size() / 4096);
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page * 4096), 4096, '\0');
            break;
        }
        default:  // flips where they hurt: headers of pages
            for (int i = 0; i < 8; ++i)
                bytes[below(bytes.size() / 4096) * 4096 + below(64)] ^= 1 << random() % 8;
    }
    return bytes;
}

void read_everything(const std::filesystem::path& file) {
    auto store = Store::open(file, Access::read);
    store.check();
    for (const auto& session : store.sessions())
        for (const auto& sample : store.samples(session.id)) {
            store.sample(sample.id);
            store.annotations(sample.id);
        }
    store.observations("lazarus/fig8");
    store.newest_claim_checks();
    store.baselines();
    store.machine("f1ng3r");
}

TEST(DamagedFile, IsRefusedOrRead) {
    Folder folder;
    {
        auto store = Store::open(folder / "good.db", Access::write);
        const auto session = begin(store);
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            const auto id =
                store.begin_sample(session, example_spec(seed), key_of(example_spec(seed)));
            store.finish_sample(full_sample(id, session, example_spec(seed)));
        }
        store.put_claim_checks(session,
                               {{"a", ClaimVerdict::supported, "yes", Provenance::exact, 1.0}});
        store.set_baseline("main", session);
        store.finish_session(session, "finished");
    }
    std::ifstream in(folder / "good.db", std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(in), {}};
    ASSERT_GE(good.size(), 10u * 4096);
    ASSERT_NO_THROW(read_everything(folder / "good.db"));
    int refused = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        std::mt19937_64 random(seed);
        const auto file = folder.path() / "bad.db";
        for (const char* suffix : {"", "-wal", "-shm"})
            std::filesystem::remove(file.string() + suffix);
        std::ofstream(file, std::ios::binary) << damaged(good, random);
        SCOPED_TRACE(seed);
        try {
            read_everything(file);
        } catch (const StoreError& error) {
            ++refused;
            EXPECT_NE(std::string(error.what()), "");
        }  // anything else fails the test
        try {
            auto store = Store::open(file, Access::write);
            add_sample(store, begin(store), example_spec(1));
            store.prune(0, false, false);
        } catch (const StoreError&) {
        }
    }
    EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace assay::store::testing
