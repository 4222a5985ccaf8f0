// A file that the first version of the schema left behind: written by the program of that time,
// with two of everything, a failed and an interrupted sample, and checkpoints in the database.
#include <gtest/gtest.h>

#include "suite/store/schema/migration.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

namespace fs = std::filesystem;

fs::path copy_of_version_1(const Folder& folder) {
    const auto file = folder / "old.db";
    fs::copy_file(fs::path(ASSAY_STORE_TEST_DATA) / "version_1.sqlite", file);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    return file;
}

void expect_everything(const Store& store) {
    const auto sessions = store.sessions();
    ASSERT_EQ(sessions.size(), 2u);
    EXPECT_EQ(sessions[0].state, "interrupted");
    EXPECT_EQ(sessions[1].state, "finished");
    const auto samples = store.samples(sessions[1].id);
    ASSERT_EQ(samples.size(), 3u);
    for (const auto& brief : samples) {
        if (brief.spec.seed != 0xfedcba9876543210) continue;
        const auto got = store.sample(brief.id);
        const auto put = full_sample(brief.id, sessions[1].id, brief.spec);
        EXPECT_EQ(got.metrics.size(), put.metrics.size());
        EXPECT_EQ(got.events.size(), put.events.size());
        EXPECT_EQ(got.series_data.at(0).t_s, put.series_data.at(0).t_s);
        EXPECT_EQ(got.tables.at(0).rows, put.tables.at(0).rows);
        EXPECT_EQ(got.artifacts.at(0).bytes, put.artifacts.at(0).bytes);
        EXPECT_EQ(got.hardware.at(1).power_w, put.hardware.at(1).power_w);
        EXPECT_EQ(store.annotations(got.id).at(0).text, "note");
    }
    EXPECT_EQ(store.baselines().at(0).session, sessions[1].id);
    EXPECT_EQ(store.newest_claim_checks().size(), 1u);
    EXPECT_TRUE(store.calibration("hash").has_value());
    const auto report = store.check();
    EXPECT_TRUE(report.ok) << report.problems.at(0);
    for (const auto& [table, rows] : report.rows) EXPECT_NE(table, "sample_checkpoint");
}

TEST(VersionOne, IsBroughtUpToDateWithAllItHolds) {
    Folder folder;
    const auto file = copy_of_version_1(folder);
    EXPECT_NE(error_of([&] { Store::open(file, Access::read); }).find("has schema version 1"),
              std::string::npos)
        << "reading changes nothing";
    auto store = Store::open(file, Access::write);
    expect_everything(store);
    add_sample(store, begin(store), example_spec(9));
    SQLite::Database sql(file.string());
    EXPECT_EQ(schema_version(file, sql), migrations().back().to);
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM results WHERE metric = 'throughput'").getInt(),
              3);
}

TEST(VersionOne, CanBeMergedAsItIs) {
    Folder folder;
    const auto file = copy_of_version_1(folder);
    auto store = Store::open(folder / "new.db", Access::write);
    EXPECT_EQ(store.merge(file).sessions, 2);
    expect_everything(store);
    SQLite::Database sql(file.string());
    EXPECT_EQ(sql.execAndGet("PRAGMA user_version").getInt(), 1) << "the old file stays old";
}

}  // namespace
}  // namespace assay::store::testing
