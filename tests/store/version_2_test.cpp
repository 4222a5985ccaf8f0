// A file of the schema before: its rows of the gate were named by two texts each. Everything that a
// person decided is there after migration, with the profile and provenance of the samples that it
// was about. tests/store/data/version_2.sql says what is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/store/nights.hpp"
#include "suite/store/schema/migration.hpp"
#include "tests/store/example_rows.hpp"
#include "tests/store/stored_files.hpp"

namespace assay::store::testing {
namespace {

using ::testing::ElementsAre;

/// The series that was run at two profiles, in nights at toy only; by hand, later, at small.
RowId work(const std::string& metric, Labels labels = {}) {
    return {.experiment = "demo/work",
            .variant = "left",
            .axes = {{"mode", "a b=c"}, {"n", std::int64_t{1}}},
            .metric = metric,
            .labels = std::move(labels),
            .profile = Profile::toy,
            .provenance = Provenance::measured,
            .scenario = ""};
}

RowId benchmark() {
    return {.experiment = "benchmark/program",
            .variant = "program",
            .axes = {{"arguments", "--x name=y"}, {"name", "gemv"}, {"program", "gemv_benchmark"}},
            .metric = "real_time",
            .labels = {{"benchmark", "BM_a/8 b"}},
            .profile = Profile::toy,
            .provenance = Provenance::measured,
            .scenario = ""};
}

RowId paced() {
    RowId row;
    row.experiment = "demo/paced";
    row.variant = "fast";
    row.metric = "seconds";
    row.profile = Profile::toy;
    row.provenance = Provenance::emulated;
    row.scenario = "kill:rank=1@step=5";
    return row;
}

/// Of its samples nothing is left but the texts.
RowId gone() {
    RowId row;
    row.experiment = "demo/gone";
    row.variant = "old way";
    row.axes = {{"k", 1.5}, {"mode", "two words"}};
    row.metric = "loss";
    row.labels = {{"step", std::int64_t{3}}};
    return row;
}

class VersionTwo : public ::testing::Test {
  protected:
    VersionTwo() { from_text("version_2.sql", folder / "old.db"); }

    static std::vector<RegressionRecord> regressions(Store& store) {
        return Nights(store).regressions("cpu", "feedfacecafebeef");
    }

    static void expect_everything(Store& store) {
        const Nights nights(store);
        EXPECT_EQ(nights.nights("").size(), 5u);
        std::map<RowId, std::vector<std::string>> told;
        std::size_t rows = 0;
        for (const RowOfNight& of : nights.rows("cpu", "feedfacecafebeef")) {
            told[of.row.id].push_back(of.row.evidence);
            ++rows;
        }
        EXPECT_EQ(rows, 14u);
        EXPECT_EQ(told.size(), 5u);
        EXPECT_THAT(told[work("seconds")], ElementsAre("same", "none", "slower", "slower"))
            << "the first of its nights has no samples left";
        EXPECT_EQ(told[work("part", {{"kind", "x y"}, {"step", std::int64_t{2}}})].size(), 3u);
        EXPECT_THAT(told[benchmark()], ElementsAre("none", "same", "none"));
        EXPECT_EQ(told[paced()].size(), 3u);
        EXPECT_THAT(told[gone()], ElementsAre("same"));
        const auto others = nights.rows("gpu", "feedfacecafebeef");
        ASSERT_EQ(others.size(), 1u);
        EXPECT_EQ(others[0].row.id.series_text(), "demo/never all");

        const auto all = regressions(store);
        ASSERT_EQ(all.size(), 3u);
        EXPECT_EQ(all[0].row, gone());
        EXPECT_EQ(all[0].state, "");
        EXPECT_EQ(all[1].row, work("seconds"));
        EXPECT_EQ(all[1].state, "confirmed");
        ASSERT_EQ(all[1].steps.size(), 2u);
        EXPECT_EQ(all[1].steps[1].why, "seen in a second night");
        EXPECT_EQ(all[2].row, benchmark());
        EXPECT_EQ(all[2].state, "accepted");
        EXPECT_EQ(all[2].steps[1].night, "") << "a person did it";

        const auto levels = nights.levels("cpu");
        ASSERT_EQ(levels.size(), 2u);
        EXPECT_EQ(levels[0].row, std::nullopt) << "everything";
        EXPECT_EQ(levels[1].row, benchmark());
        EXPECT_EQ(levels[1].since, "2026-10-03T02:00:00.000Z");

        const auto mutes = nights.mutes();
        ASSERT_EQ(mutes.size(), 2u);
        EXPECT_EQ(mutes[0].pattern, "benchmark/gemv *");
        EXPECT_EQ(mutes[0].metric, "real_time*");
        EXPECT_EQ(mutes[1].why, "known");
        EXPECT_EQ(mutes[1].who, "") << "nobody asked then";

        ASSERT_EQ(store.baselines().size(), 1u);
        EXPECT_EQ(store.baselines()[0].session, levels[0].session);
        EXPECT_EQ(store.annotations("00000002-0000").at(0).text, "new power supply");
        EXPECT_EQ(store.annotations("00000001-1111").at(0).text, "looked at it");
        EXPECT_EQ(store.sessions().size(), 4u);
        const auto report = store.check();
        EXPECT_TRUE(report.ok) << report.problems.at(0);
    }

    Folder folder;
};

TEST_F(VersionTwo, IsBroughtUpToDateWithAllItHolds) {
    EXPECT_NE(error_of([&] {
                  Store::open(folder / "old.db", Access::read);
              }).find("has schema version 2"),
              std::string::npos)
        << "reading changes nothing";
    auto store = Store::open(folder / "old.db", Access::write);
    expect_everything(store);
    SQLite::Database sql((folder / "old.db").string());
    EXPECT_EQ(sql.execAndGet("SELECT group_concat(arrival) FROM (SELECT arrival FROM session ORDER "
                             "BY started)")
                  .getString(),
              "1,2,3,4");
    EXPECT_EQ(schema_version(folder / "old.db", sql), migrations().back().to);
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM night_rows WHERE provenance = 'emulated'"
                             " AND suite = 'cpu'")
                  .getInt(),
              3);
}

TEST_F(VersionTwo, CanBeMergedAsItIs) {
    auto store = Store::open(folder / "new.db", Access::write);
    for (int times = 0; times < 2; ++times) {
        store.merge(folder / "old.db");
        expect_everything(store);
    }
    SQLite::Database sql((folder / "old.db").string());
    EXPECT_EQ(sql.execAndGet("PRAGMA user_version").getInt(), 2) << "the old file stays old";
}

TEST_F(VersionTwo, WhatIsDecidedLaterGoesOnWithItsRows) {
    auto store = Store::open(folder / "old.db", Access::write);
    Nights nights(store);
    NightRecord night;
    night.id = "00000095-0000-4000-8000-000000000000";
    night.suite = "cpu";
    night.machine = "feedfacecafebeef";
    night.session = begin(store);
    night.started = now_utc();
    night.verdict = "clean";
    night.id = nights.begin(night);
    RowId small = work("seconds");
    small.profile = Profile::small;
    nights.finish(night, nlohmann::json::object(),
                  {{work("seconds"), 0.1, "same"}, {small, 7.0, "same"}},
                  {{work("seconds"), "confirmed", false, "back tonight"},
                   {small, "candidate", false, "first seen tonight"}});
    const auto all = regressions(store);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[1].steps.size(), 3u) << "the confirmed one went on";
    EXPECT_EQ(all[3].row, small) << "another profile is another row";
}

// Two rows whose texts say nothing that can be taken apart stay two.
TEST_F(VersionTwo, NoTextIsTooStrange) {
    SQLite::Database((folder / "old.db").string(), SQLite::OPEN_READWRITE)
        .exec(
            "INSERT INTO night_row SELECT id, series, metric, 1, 'same' FROM night, (SELECT 'a/b "
            "v z=1 a=01' AS series, 'm' AS metric UNION SELECT 'a/b v a=01 z=1', 'm' UNION SELECT "
            "'a/b v a=1 z=1', 'm' UNION SELECT 'a/b v a=1 a=1 z=1', 'm' UNION SELECT 'a/b  v', 'm' "
            "UNION SELECT 'a/b v', 'm' UNION SELECT '', '' UNION SELECT ' =', 'm x=1 y' UNION "
            "SELECT ' =', 'm y x=1') WHERE suite = 'gpu'");
    auto store = Store::open(folder / "old.db", Access::write);
    std::set<std::pair<std::string, std::string>> texts;
    for (const RowOfNight& of : Nights(store).rows("gpu", "feedfacecafebeef"))
        texts.emplace(of.row.id.series_text(), of.row.id.metric_text());
    EXPECT_EQ(texts.size(), 10u);
    EXPECT_TRUE(texts.contains({"a/b v z=1 a=01", "m"}));
}

// All its samples failed in one night: what the label was, other nights know.
TEST_F(VersionTwo, ANightWithoutValuesKeepsItsRow) {
    SQLite::Database((folder / "old.db").string(), SQLite::OPEN_READWRITE).exec(R"(
        UPDATE metric SET labels = '{"benchmark":"8"}' WHERE name = 'real_time';
        UPDATE night_row SET metric = 'real_time benchmark=8' WHERE metric LIKE 'real_time %';
        DELETE FROM metric WHERE sample IN ('0000000b-1111-4000-8000-000000000000',
                                            '0000000c-1111-4000-8000-000000000000');
        UPDATE sample SET status = 'failed' WHERE id IN ('0000000b-1111-4000-8000-000000000000',
                                                         '0000000c-1111-4000-8000-000000000000'))");
    Store store = Store::open(folder / "old.db", Access::write);
    RowId row = benchmark();
    row.labels = {{"benchmark", "8"}};
    std::size_t nights = 0;
    for (const RowOfNight& of : Nights(store).rows("cpu", "feedfacecafebeef"))
        if (of.row.id.metric == "real_time") {
            EXPECT_EQ(of.row.id, row) << of.started;
            ++nights;
        }
    EXPECT_EQ(nights, 3u);
}

// A night's report may be megabytes: who lists the nights wants none of them.
TEST_F(VersionTwo, ListingTheNightsReadsNoReport) {
    auto store = Store::open(folder / "old.db", Access::write);
    SQLite::Database((folder / "old.db").string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE night SET report = 'no JSON'");
    EXPECT_EQ(Nights(store).nights("").size(), 5u);
}

}  // namespace
}  // namespace assay::store::testing
