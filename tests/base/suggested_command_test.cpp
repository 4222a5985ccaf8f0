#include "suite/base/suggested_command.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(SuggestedCommand, NamesTheDatabaseInUse) {
    EXPECT_EQ(suggested("claims --again"), "`assay claims --again`");
    suggest_database("my results.db");
    EXPECT_EQ(suggested("claims"), "`assay claims --db 'my results.db'`");
    EXPECT_EQ(suggested_line("claims"), "assay claims --db 'my results.db'");
    EXPECT_EQ(with_database("claims"), "claims --db 'my results.db'");
    suggest_database("");
    EXPECT_EQ(suggested_line("claims"), "assay claims");
}

}  // namespace
}  // namespace assay
