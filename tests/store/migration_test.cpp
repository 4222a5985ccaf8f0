// The way from one version of the schema to the next, with versions made up for the purpose.
#include "suite/store/schema/migration.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

const Migration first{1, "CREATE TABLE fruit (name TEXT); INSERT INTO fruit VALUES ('pear')"};
const Migration second{
    2, "ALTER TABLE fruit ADD COLUMN colour TEXT; UPDATE fruit SET colour = 'green'"};
const Migration broken{
    2, "ALTER TABLE fruit ADD COLUMN colour TEXT; INSERT INTO vegetable VALUES (1)"};

SQLite::Database open(const std::filesystem::path& file) {
    return SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 5000);
}

std::string colour(SQLite::Database& sql) {
    return sql.execAndGet("SELECT colour FROM fruit").getString();
}

TEST(Migrate, FromNothingAndFromTheVersionBefore) {
    Folder folder;
    const auto file = folder / "r.db";
    auto sql = open(file);
    EXPECT_EQ(schema_version(file, sql), 0);
    migrate(file, sql, std::vector{first});
    EXPECT_EQ(schema_version(file, sql), 1);
    migrate(file, sql, std::vector{first, second});
    EXPECT_EQ(schema_version(file, sql), 2);
    EXPECT_EQ(colour(sql), "green");
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM schema_version").getInt(), 2);
    migrate(file, sql, std::vector{first, second});
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM fruit").getInt(), 1) << "nothing runs twice";
}

TEST(Migrate, AFailingStepLeavesTheOldVersion) {
    Folder folder;
    const auto file = folder / "r.db";
    auto sql = open(file);
    migrate(file, sql, std::vector{first});
    EXPECT_THROW(migrate(file, sql, std::vector{first, broken}), SQLite::Exception);
    EXPECT_EQ(schema_version(file, sql), 1);
    EXPECT_THROW(colour(sql), SQLite::Exception) << "the half of the step that worked is undone";
    migrate(file, sql, std::vector{first, second});
    EXPECT_EQ(colour(sql), "green");
}

TEST(Migrate, AStepMayDoWhatSqlCannot) {
    Folder folder;
    const auto file = folder / "r.db";
    auto sql = open(file);
    migrate(file, sql, std::vector{first});
    const auto ripen = [](SQLite::Database& database) {
        database.exec("UPDATE fruit SET colour = 'yellow'");
    };
    Migration fails{2, second.sql, [](SQLite::Database& database) {
                        database.exec("UPDATE fruit SET colour = 'red'");
                        throw std::runtime_error("no");
                    }};
    EXPECT_THROW(migrate(file, sql, std::vector{first, fails}), std::runtime_error);
    EXPECT_EQ(schema_version(file, sql), 1);
    EXPECT_THROW(colour(sql), SQLite::Exception) << "nothing of it stays";
    migrate(file, sql, std::vector{first, Migration{2, second.sql, ripen}});
    EXPECT_EQ(colour(sql), "yellow") << "after the SQL";
}

TEST(Migrate, ANewerFileIsRefused) {
    Folder folder;
    const auto file = folder / "r.db";
    auto sql = open(file);
    migrate(file, sql, std::vector{first, second});
    EXPECT_NE(
        error_of([&] { migrate(file, sql, std::vector{first}); }).find("knows versions up to 1"),
        std::string::npos);
    EXPECT_EQ(schema_version(file, sql), 2);
}

TEST(Migrate, TheRealOnesAreNumberedFromOne) {
    for (int expected = 1; const auto& step : migrations()) EXPECT_EQ(step.to, expected++);
}

TEST(Migrate, ManyProcessesMayOpenANewFileAtOnce) {
    Folder folder;
    std::vector<std::string> errors(8);
    {
        std::vector<std::jthread> openers;
        for (auto& error : errors)
            openers.emplace_back(
                [&] { error = error_of([&] { Store::open(folder / "r.db", Access::write); }); });
    }
    for (const auto& error : errors) EXPECT_EQ(error, "");
    EXPECT_TRUE(Store::open(folder / "r.db", Access::read).check().ok);
}

}  // namespace
}  // namespace assay::store::testing
