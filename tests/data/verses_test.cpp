#include "suite/data/verses.hpp"

#include <gtest/gtest.h>

#include "suite/data/catalog.hpp"

namespace assay::data {
namespace {

TEST(Verses, ReferencesAreDroppedAndNothingElse) {
    EXPECT_EQ(without_references("Ge1:1 In the  beginning: God.\n1Sm2:3 Talk no more\n"),
              "In the  beginning: God.\nTalk no more\n");
}

TEST(Verses, ALastLineWithoutEndIsEnded) {
    EXPECT_EQ(without_references("Rev22:21 Amen."), "Amen.\n");
}

TEST(Verses, NothingInNothingOut) { EXPECT_EQ(without_references(""), ""); }

TEST(Verses, ALineWithoutReferenceIsNamed) {
    for (const char* line : {"Ge1:1 In\n\nGe1:2 And\n", "Ge1:1 In\nand the earth\n"}) {
        try {
            without_references(line);
            FAIL() << "accepted: " << line;
        } catch (const DataError& error) {
            EXPECT_EQ(std::string(error.what()).substr(0, 7), "line 2:");
        }
    }
}

}  // namespace
}  // namespace assay::data
