// Opening the results: what adds to a database makes none, and brings an older one up to date.
#include "suite/cli/reading_database.hpp"

#include <gtest/gtest.h>

#include "suite/experiment/error.hpp"
#include "suite/store/migration.hpp"
#include "tests/runner/temporary_folder.hpp"

namespace assay::cli {
namespace {

class ReadingDatabase : public ::testing::Test {
  protected:
    assay::testing::TemporaryFolder folder;
    Registry registry;
    Context context{registry, "", folder / "r.db", {}};
};

TEST_F(ReadingDatabase, WhatAddsBringsAnOlderFileUpToDate) {
    {
        store::Store::open(folder / "newest.db", store::Access::write);
        SQLite::Database newest((folder / "newest.db").string());
        SQLite::Database sql(context.database.string(),
                             SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        sql.exec("PRAGMA application_id = " +
                 newest.execAndGet("PRAGMA application_id").getString());
        store::migrate(context.database, sql, std::span(store::migrations()).first(1));
    }
    EXPECT_THROW(open_existing(context), store::StoreError) << "readers change nothing";
    EXPECT_TRUE(open_existing_to_write(context).sessions().empty());
    EXPECT_TRUE(open_existing(context).sessions().empty());
}

TEST_F(ReadingDatabase, WhatAddsMakesNone) {
    EXPECT_THROW(open_existing_to_write(context), UserError);
    EXPECT_FALSE(std::filesystem::exists(context.database));
}

}  // namespace
}  // namespace assay::cli
