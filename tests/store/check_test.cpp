// `check` finds what was done to a file behind the program's back.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include "suite/store/schema/migration.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

struct Damage {
    const char* sql;
    const char* words;
};

class Check : public ::testing::TestWithParam<Damage> {};

TEST_P(Check, Says) {
    Folder folder;
    {
        auto store = Store::open(folder / "r.db", Access::write);
        const auto session = begin(store);
        const auto id = store.begin_sample(session, example_spec(), key_of(example_spec()));
        store.finish_sample(full_sample(id, session, example_spec()));
        store.finish_session(session, "finished");
        ASSERT_TRUE(store.check().ok);
    }
    {
        SQLite::Database file((folder / "r.db").string(), SQLite::OPEN_READWRITE);
        file.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON");
        file.exec(GetParam().sql);
    }
    const auto report = Store::open(folder / "r.db", Access::read).check();
    EXPECT_FALSE(report.ok);
    std::string all;
    for (const auto& problem : report.problems) all += problem + '\n';
    EXPECT_NE(all.find(GetParam().words), std::string::npos) << all;
}

INSTANTIATE_TEST_SUITE_P(
    Damages, Check,
    ::testing::Values(
        Damage{"UPDATE sample SET status = 'great'", "unknown status \"great\""},
        Damage{"DELETE FROM machine", "session refers to a row of machine"},
        Damage{"DELETE FROM artifact", "belongs to no sample"},
        Damage{"UPDATE artifact_blob SET bytes = x'00' WHERE length(bytes) = 3", "has changed"},
        Damage{"UPDATE time_series SET value = zeroblob(8)", "has lost points"},
        Damage{"UPDATE sample SET status = 'running'", "marked running"},
        Damage{
            "DELETE FROM data_table_cell; DELETE FROM data_table_column; DELETE FROM data_table; "
            "DELETE FROM metric; DELETE FROM event; DELETE FROM sample",
            "has no samples"}));

TEST(CheckCounts, RowsAndBytes) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    for (std::uint64_t seed = 0; seed < 5; ++seed) add_sample(store, session, example_spec(seed));
    const auto report = store.check();
    EXPECT_GT(report.bytes, 4096);
    const std::map<std::string, long> rows(report.rows.begin(), report.rows.end());
    EXPECT_EQ(rows.at("sample"), 5);
    EXPECT_EQ(rows.at("series"), 1);
    EXPECT_EQ(rows.at("metric"), 5);
    EXPECT_EQ(rows.at("schema_version"), migrations().back().to);
    // Every table of the design is there.
    for (const char* table : {"session", "machine", "series", "sample", "metric", "event",
                              "time_series", "data_table", "artifact", "metric_unit", "hardware",
                              "claim_check", "calibration", "baseline", "annotation"})
        EXPECT_TRUE(rows.count(table)) << table;
}

}  // namespace
}  // namespace assay::store::testing
