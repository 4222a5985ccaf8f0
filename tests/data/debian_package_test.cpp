// What programs of packages print, and verses without their references.
#include "suite/data/debian_package.hpp"

#include <gtest/gtest.h>

namespace assay::data {
namespace {

TEST(ProgramOutput, MoreThanAPipeHoldsArrivesWhole) {
    const auto output = output_of({"head", "-c", "1000000", "/dev/zero"});
    EXPECT_TRUE(output.started);
    EXPECT_EQ(output.status, 0);
    EXPECT_EQ(output.bytes, std::string(1000000, '\0'));
}

TEST(ProgramOutput, ArgumentsReachTheProgramAsTheyAre) {
    EXPECT_EQ(output_of({"printf", "%s|%s", "$HOME; ls", "two words"}).bytes,
              "$HOME; ls|two words");
}

TEST(ProgramOutput, StatusesAndSignalsAreTold) {
    EXPECT_EQ(output_of({"sh", "-c", "exit 3"}).status, 3);
    EXPECT_EQ(output_of({"sh", "-c", "kill -9 $$"}).status, 128 + 9);
}

TEST(ProgramOutput, AMissingProgramIsToldApartFromAFailingOne) {
    EXPECT_FALSE(output_of({"no-such-program-anywhere"}).started);
}

TEST(ProgramOutput, StandardInputIsEmpty) { EXPECT_EQ(output_of({"cat"}).bytes, ""); }

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
