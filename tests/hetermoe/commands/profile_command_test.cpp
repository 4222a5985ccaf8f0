// `assay calibrate hetermoe`: what it refuses before it measures anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "impls/hetermoe/commands/commands.hpp"
#include "tests/cli/command_test.hpp"

namespace assay::hetermoe {
namespace {

using ::testing::HasSubstr;

class HetermoeProfileCommand : public assay::testing::CommandTest {
  protected:
    HetermoeProfileCommand() : CommandTest(make_profile_command) {}
};

TEST_F(HetermoeProfileCommand, SaysWhatFitsNothing) {
    EXPECT_THAT(error({"--width", "100"}), HasSubstr("--width 100 is not a multiple of 8"));
    EXPECT_THAT(error({"--shape", "mixtral", "--width", "264"}), HasSubstr("twice the heads"));
    EXPECT_THAT(error({"--shape", "mixtral", "--kv-heads", "3"}),
                HasSubstr("--kv-heads 3 does not divide the 8 heads"));
    EXPECT_THAT(error({"--top-k", "8"}), HasSubstr("there are 8 experts"));
    EXPECT_THAT(error({"-o", (folder_ / "no/such.toml").string()}), HasSubstr("-o: "));
    EXPECT_THROW(output({"--layers", "0"}), CLI::ParseError);
    EXPECT_THROW(output({"--memory", "-1"}), CLI::ParseError);
    EXPECT_THROW(output({"--attention", "sparse"}), CLI::ParseError);
    EXPECT_THAT(error({"--seconds", "nan"}), HasSubstr("not nan"));
    EXPECT_THAT(error({"--memory", "nan"}), HasSubstr("not nan"));
}

TEST_F(HetermoeProfileCommand, OldWorkersAreOfTheSameModel) {
    const std::string file = (folder_ / "old.toml").string();
    EXPECT_THAT(error({"--old-from", file}), HasSubstr("--old-from"));
    std::ofstream(file) << "layers = 3\nexperts = 6\nmicro_batches = [3]\n[new]\ngpus = 2\n"
                           "attention_s = 0.75\nexpert_s = 0.8\n[exchange]\nseconds = 0\n"
                           "[old]\ngpus = 1\nexpert_s = 1\n";
    EXPECT_THAT(error({"--old-from", file}), HasSubstr("3 layers of 6 experts, not of 4 of 8"));
}

}  // namespace
}  // namespace assay::hetermoe
