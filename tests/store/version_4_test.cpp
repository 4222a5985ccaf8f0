// A file of the schema before curves grew and changes had numbers: it reads the same, and can be
// followed from then on. tests/store/data/version_4.sql says what is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/store/schema/migration.hpp"
#include "tests/store/example_rows.hpp"
#include "tests/store/stored_files.hpp"

namespace assay::store::testing {
namespace {

using ::testing::ElementsAre;

constexpr const char* finished = "00000001-0000-4000-8000-000000000000";
constexpr const char* left_running = "00000002-0000-4000-8000-000000000000";

class VersionFour : public ::testing::Test {
  protected:
    VersionFour() { from_text("version_4.sql", file()); }

    std::filesystem::path file() const { return folder / "old.db"; }

    static void expect_everything(const Store& store) {
        ASSERT_EQ(store.sessions().size(), 2u);
        EXPECT_EQ(store.session(finished)->state, "finished");
        EXPECT_EQ(store.session(left_running)->state, "interrupted");
        EXPECT_EQ(store.samples(finished).size(), 2u);
        for (const Sample& brief : store.samples(finished)) {
            if (brief.status != "ok") continue;
            const Sample got = store.sample(brief.id);
            const Sample put = full_sample(brief.id, finished, brief.spec);
            EXPECT_EQ(got.metrics.size(), put.metrics.size());
            EXPECT_EQ(got.events.size(), put.events.size());
            EXPECT_EQ(got.tables.at(0).rows, put.tables.at(0).rows);
            EXPECT_EQ(got.artifacts.at(2).name, put.artifacts.at(2).name);
            ASSERT_EQ(got.series_data.size(), 3u) << "two of one name stay two";
            EXPECT_EQ(got.series_data[0].t_s, put.series_data[0].t_s);
            EXPECT_EQ(got.series_data[2].name, got.series_data[0].name);
            EXPECT_THAT(got.series_data[2].values, ElementsAre(1.5, 1.25));
            for (const TimeSeries& curve : got.series_data) EXPECT_FALSE(curve.grows);
        }
        const auto report = store.check();
        EXPECT_TRUE(report.ok) << report.problems.at(0);
    }

    Folder folder;
};

TEST_F(VersionFour, IsBroughtUpToDateWithAllItHolds) {
    EXPECT_NE(error_of([&] { Store::open(file(), Access::read); }).find("has schema version 4"),
              std::string::npos)
        << "reading changes nothing";
    const Store store = Store::open(file(), Access::write);
    expect_everything(store);
    SQLite::Database sql(file().string());
    EXPECT_EQ(schema_version(file(), sql), migrations().back().to);
}

TEST_F(VersionFour, ItsVerdictsAreOfOlderRules) {
    SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
        .exec(
            "INSERT INTO claim_check VALUES ('c', NULL, 'made/fig1/a', '2026-11-22T22:22:59.000Z', "
            "0, 'open discrepancy', 'known', 'exact', 0.5)");
    Store store = Store::open(file(), Access::write);
    const auto rules_of = [&](const std::string& claim) {
        for (const StoredCheck& stored : store.newest_claim_checks())
            if (stored.check.claim == claim) return stored.rules;
        return -1;
    };
    EXPECT_EQ(rules_of("made/fig1/a"), 0);
    store.put_claim_checks("", {{"made/fig1/a", ClaimVerdict::undecided, "anew", {}, {}}});
    EXPECT_EQ(rules_of("made/fig1/a"), claim_rules);
    EXPECT_TRUE(store.check().ok);
}

TEST_F(VersionFour, CanBeMergedAsItIs) {
    Store store = Store::open(folder / "new.db", Access::write);
    EXPECT_EQ(store.merge(file()).samples, 3) << "not the one that was running";
    expect_everything(store);
    SQLite::Database sql(file().string());
    EXPECT_EQ(sql.execAndGet("PRAGMA user_version").getInt(), 4) << "the old file stays old";
}

TEST_F(VersionFour, CanBeFollowed) {
    Store store = Store::open(file(), Access::write);
    const Changes all = store.changes_since({});
    EXPECT_TRUE(all.everything);
    EXPECT_EQ(all.sessions.size(), 2u);
    ASSERT_EQ(all.samples.size(), 4u);
    const std::string id = add_sample(store, begin(store), example_spec(7));
    const Changes later = store.changes_since(all.next);
    EXPECT_FALSE(later.everything);
    EXPECT_EQ(later.sessions.size(), 1u);
    ASSERT_EQ(later.samples.size(), 1u);
    EXPECT_EQ(later.samples[0].sample.id, id);
}

}  // namespace
}  // namespace assay::store::testing
