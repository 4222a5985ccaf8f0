// Records that are described, as rows: what is stored of each field, and what comes back.
#include "suite/store/described_rows.hpp"

#include <SQLiteCpp/Exception.h>
#include <gtest/gtest.h>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {

enum class Taste { sweet, not_yet };
ASSAY_NAMES(Taste, sweet, (not_yet, "not yet"))

struct Fruit {
    std::string name, note;  ///< the schema lets `note` be NULL
    Taste taste = Taste::sweet;
    long pieces = 0;
    std::optional<double> grams;
    nlohmann::json origin = nlohmann::json::object();
    std::vector<std::string> seeds;
};
ASSAY_FIELDS(Fruit, name, note, taste, pieces, grams, origin, seeds)

struct Judged {
    RowId row;
    std::string why;
};
ASSAY_FIELDS(Judged, row, why)
struct PerhapsJudged {
    std::optional<RowId> row;
    std::string why;
};
ASSAY_FIELDS(PerhapsJudged, row, why)

struct Ripe {
    std::string name, since;
};
ASSAY_FIELDS(Ripe, name, since)

namespace {

/// A results database with tables of these records.
class DescribedRows : public ::testing::Test {
  protected:
    DescribedRows() {
        Store::open(folder_ / "r.db", Access::write);
        sql_.emplace((folder_ / "r.db").string(), SQLite::OPEN_READWRITE);
        sql_->exec(
            "CREATE TABLE fruit (name TEXT PRIMARY KEY, note TEXT, taste TEXT NOT NULL, pieces "
            "INTEGER NOT NULL DEFAULT 7, grams REAL, origin TEXT NOT NULL, tree TEXT, place "
            "INTEGER) STRICT, WITHOUT ROWID");
        sql_->exec(
            "CREATE TABLE judged (gate_row TEXT REFERENCES gate_row(id), why TEXT NOT NULL) "
            "STRICT");
    }

    SQLite::Database& sql() { return *sql_; }
    /// "NULL" for NULL.
    std::string value(const std::string& expression) {
        return sql()
            .execAndGet("SELECT coalesce(group_concat(" + expression + "), 'NULL') FROM fruit")
            .getString();
    }

  private:
    Folder folder_;
    std::optional<SQLite::Database> sql_;
};

const RowId example_row{.experiment = "lazarus/fig8",
                        .variant = "mro",
                        .axes = {{"slots", std::int64_t{4}}},
                        .metric = "time",
                        .labels = {{"layer", std::int64_t{2}}},
                        .profile = Profile::small,
                        .provenance = Provenance::measured,
                        .scenario = "kill:rank=1@step=2"};

TEST_F(DescribedRows, ComeBackAsTheyWent) {
    const Fruit apple{.name = "apple",
                      .note = "red",
                      .taste = Taste::not_yet,
                      .pieces = 1L << 40,
                      .grams = 0.1,
                      .origin = {{"tree", 3}}};
    Insert<Fruit> insert(sql(), {.table = "fruit"});
    insert(apple);
    insert({.name = "", .seeds = {"lost"}});  // prepared once, bound anew
    const auto all = select<Fruit>(sql(), {"fruit", "ORDER BY name DESC"});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name, "apple");
    EXPECT_EQ(all[0].note, "red");
    EXPECT_EQ(all[0].taste, Taste::not_yet);
    EXPECT_EQ(all[0].pieces, 1L << 40);
    EXPECT_EQ(all[0].grams, 0.1);
    EXPECT_EQ(all[0].origin, apple.origin);
    EXPECT_EQ(all[1].name, "");
    EXPECT_EQ(all[1].note, "");
    EXPECT_EQ(all[1].taste, Taste::sweet);
    EXPECT_EQ(all[1].pieces, 0);
    EXPECT_EQ(all[1].grams, std::nullopt);
    EXPECT_TRUE(all[1].seeds.empty()) << "a vector is no column";
    EXPECT_EQ(value("taste || ' ' || typeof(pieces)"), "sweet integer,not yet integer");
}

TEST_F(DescribedRows, AnEmptyTextIsNullWhereTheSchemaLetsIt) {
    Insert<Fruit> insert(sql(), {.table = "fruit", .beside = {"tree"}});
    insert({.name = ""}, {""});
    EXPECT_EQ(value("name"), "");
    EXPECT_EQ(value("note"), "NULL");
    EXPECT_EQ(value("tree"), "NULL");
    EXPECT_EQ(value("grams"), "NULL");
    insert({.name = "plum", .note = "blue", .grams = 0.0}, {"old"});
    EXPECT_EQ(value("note || tree || grams"), "blueold0.0");
}

TEST_F(DescribedRows, WhatIsLeftOutHasTheDefaultOfTheSchema) {
    Insert<Fruit> insert(sql(), {.table = "fruit", .left_out = {"pieces", "note"}});
    insert({.name = "plum", .note = "blue", .pieces = 3});
    EXPECT_EQ(value("pieces"), "7");
    EXPECT_EQ(value("note"), "NULL");
}

TEST_F(DescribedRows, ComputedColumnsMayNameFieldsAndStandInForThem) {
    Insert<Fruit> insert(
        sql(), {.table = "fruit",
                .beside = {"tree"},
                .computed = {{"note", "upper(:name || :tree)"},
                             {"place", "(SELECT coalesce(max(place), 0) + 1 FROM fruit)"}}});
    insert({.name = "plum", .note = "blue"}, {"old"});
    insert({.name = "sloe", .note = "blue"}, {"new"});
    EXPECT_EQ(value("note"), "PLUMOLD,SLOENEW");
    EXPECT_EQ(value("place"), "1,2");
}

TEST_F(DescribedRows, AConflictIsResolvedAsSaid) {
    Insert<Fruit> first_stays(sql(), {.table = "fruit", .then = "ON CONFLICT DO NOTHING"});
    first_stays({.name = "plum", .pieces = 1});
    first_stays({.name = "plum", .pieces = 2});
    EXPECT_EQ(value("pieces"), "1");
    Insert<Fruit> last_counts(
        sql(),
        {.table = "fruit", .then = "ON CONFLICT (name) DO UPDATE SET pieces = excluded.pieces"});
    last_counts({.name = "plum", .pieces = 3});
    EXPECT_EQ(value("pieces"), "3");
    Insert<Fruit> refused(sql(), {.table = "fruit"});
    EXPECT_THROW(refused({.name = "plum"}), SQLite::Exception);
}

TEST_F(DescribedRows, ARowOfTheGateIsStoredOnceAndReadWithItsTable) {
    Insert<Judged> insert(sql(), {.table = "judged"});
    insert({example_row, "slow"});
    insert({example_row, "slower"});
    EXPECT_EQ(sql().execAndGet("SELECT count(*) FROM gate_row").getInt(), 1);
    const auto all = select<Judged>(
        sql(), {"judged", "JOIN gate_row ON gate_row.id = judged.gate_row ORDER BY why"});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].row, example_row);
    EXPECT_EQ(all[1].why, "slower") << "columns behind those of the row keep their places";
}

TEST_F(DescribedRows, ARowOfTheGateMayBeNone) {
    Insert<PerhapsJudged> insert(sql(), {.table = "judged"});
    insert({std::nullopt, "all"});
    insert({example_row, "one"});
    const auto all = select<PerhapsJudged>(
        sql(), {"judged", "LEFT JOIN gate_row ON gate_row.id = judged.gate_row ORDER BY why"});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].row, std::nullopt);
    EXPECT_EQ(all[0].why, "all");
    EXPECT_EQ(all[1].row, example_row);
}

TEST_F(DescribedRows, FieldsMayComeFromElsewhere) {
    Insert<Fruit> insert(sql(), {.table = "fruit"});
    insert({.name = "plum", .note = "blue", .pieces = 2});
    insert({.name = "sloe", .note = "bitter", .pieces = 9});
    const auto few = [&](auto most) {
        return select<Ripe>(
            sql(), {"fruit", "WHERE pieces < ?1 AND name <> ?2", {{"since", "upper(note)"}}}, most,
            "pear");
    };
    ASSERT_EQ(few(5).size(), 1u);
    EXPECT_EQ(few(5)[0].name, "plum");
    EXPECT_EQ(few(5)[0].since, "BLUE");
    EXPECT_EQ(first(few(1)), std::nullopt);
    EXPECT_EQ(first(few(10))->name, "plum");
}

TEST_F(DescribedRows, AWordThatNobodyKnowsIsRefused) {
    Insert<Fruit>(sql(), {.table = "fruit", .computed = {{"taste", "'loud'"}}})({.name = "plum"});
    try {
        select<Fruit>(sql(), {"fruit", ""});
        FAIL() << "read";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "\"loud\" is none of sweet, not yet");
    }
}

TEST_F(DescribedRows, MistakesAreRefused) {
    EXPECT_THROW(Insert<Ripe>(sql(), {.table = "fruit"}), SQLite::Exception) << "no such column";
    EXPECT_THROW(Insert<Fruit>(sql(), {.table = "no_table"}), SQLite::Exception);
    EXPECT_THROW(select<Ripe>(sql(), {"fruit", ""}), SQLite::Exception);
    Insert<Fruit> insert(sql(), {.table = "fruit", .beside = {"tree"}});
    EXPECT_THROW(insert({.name = "plum"}), std::logic_error) << "a text is missing";
}

}  // namespace
}  // namespace assay::store::testing
