// A disk that fills up while samples are stored.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <fstream>

#include "tests/base/temporary_folder.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

TEST(FullDisk, LosesNothingStoredAndGoesOnWhenThereIsRoom) {
    Folder folder;
    if (!own_mounts() || mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0)
        GTEST_SKIP() << "mounting a small file system is not permitted here";
    const Unmount unmount{folder.path()};

    std::vector<std::string> stored;
    std::string unfinished, said;
    {
        auto store = Store::open(folder / "r.db", Access::write);
        const auto session = begin(store);
        // Room that is given back below, as a person would by deleting something. At least half of
        // the disk: what is in the write-ahead log needs its place in the database a second time.
        std::ofstream(folder / "ballast") << std::string(1'000'000, 'b');
        for (std::uint64_t seed = 0; seed < 1000 && said.empty(); ++seed) {
            said = error_of([&] {
                unfinished =
                    store.begin_sample(session, example_spec(seed), key_of(example_spec(seed)));
                auto sample = full_sample(unfinished, session, example_spec(seed));
                sample.artifacts.push_back(
                    {"big", "text/plain", std::string(30'000, static_cast<char>(seed))});
                store.finish_sample(sample);
                stored.push_back(unfinished);
            });
        }
        ASSERT_NE(said.find("the disk is full"), std::string::npos) << said;
        ASSERT_GT(stored.size(), 3u);
        for (const auto& id : stored) EXPECT_EQ(store.sample(id).status, "ok");
        std::filesystem::remove(folder / "ballast");
        EXPECT_NO_THROW(store.finish_session(session, "interrupted")) << "the same Store goes on";
    }
    auto store = Store::open(folder / "r.db", Access::write);
    const auto report = store.check();
    EXPECT_TRUE(report.ok) << report.problems.at(0);
    for (const auto& id : stored) EXPECT_EQ(store.sample(id).artifacts.size(), 4u);
    const auto session = store.newest_unfinished("plan", "build");
    ASSERT_TRUE(session.has_value());
    store.resume_session(session->id);
    EXPECT_NO_THROW(add_sample(store, session->id, example_spec(5000)));
}

TEST(FullDisk, ReadingGoesOn) {
    Folder folder;
    if (!own_mounts() || mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0)
        GTEST_SKIP() << "mounting a small file system is not permitted here";
    const Unmount unmount{folder.path()};
    std::string id;
    {
        auto store = Store::open(folder / "r.db", Access::write);
        const auto session = begin(store);
        id = add_sample(store, session, example_spec(1), 5);
        store.finish_session(session, "finished");
    }
    std::ofstream(folder / "ballast") << std::string(4'000'000, 'b');
    EXPECT_NE(error_of([&] { Store::open(folder / "r.db", Access::write); }), "")
        << "there is room left";
    const auto read = [&] {
        const auto store = Store::open(folder / "r.db", Access::read);
        EXPECT_EQ(store.sample(id).metrics.at(0).value, 5);
        EXPECT_EQ(store.sessions().size(), 1u);
    };
    read();
    const assay::testing::EnvironmentVariable there("TMPDIR", folder.path().string());
    read();  // without a disk for the copy
}

TEST(FullDisk, KeepsThePartsOfARunningSample) {
    Folder folder;
    if (!own_mounts() || mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0)
        GTEST_SKIP() << "mounting a small file system is not permitted here";
    const Unmount unmount{folder.path()};

    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    const auto id = store.begin_sample(session, example_spec(), key_of(example_spec()));
    std::ofstream(folder / "ballast") << std::string(1'000'000, 'b');
    std::string said;
    std::size_t parts = 0;
    for (; parts < 1000 && said.empty(); ++parts) {
        Sample part;
        part.id = id;
        part.events = {{static_cast<double>(parts), "commit", -1, nlohmann::json::object()}};
        part.artifacts = {{"big", "text/plain", std::string(30'000, static_cast<char>(parts))}};
        said = error_of([&] { EXPECT_TRUE(store.add_to_sample(part)); });
    }
    EXPECT_NE(said.find("the disk is full"), std::string::npos) << said;
    --parts;  // the one that was refused
    ASSERT_GT(parts, 3u);
    EXPECT_EQ(store.sample(id).events.size(), parts) << "nothing of the last";
    std::filesystem::remove(folder / "ballast");
    Sample end;
    end.id = id;
    end.status = "ok";
    end.events = {{1e6, "late", -1, nlohmann::json::object()}};
    store.finish_sample(end);
    EXPECT_EQ(store.sample(id).artifacts.size(), parts);
    EXPECT_EQ(store.sample(id).events.back().kind, "late");
    EXPECT_TRUE(store.check().ok);
}

TEST(FullDisk, ANewDatabaseCannotBeMade) {
    Folder folder;
    if (!own_mounts() || mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0)
        GTEST_SKIP() << "mounting a small file system is not permitted here";
    const auto said = error_of([&] { Store::open(folder / "r.db", Access::write); });
    EXPECT_NE(said.find("the disk is full"), std::string::npos) << said;
    umount2(folder.path().c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace assay::store::testing
