#include "suite/data/program_output.hpp"

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

}  // namespace
}  // namespace assay::data
