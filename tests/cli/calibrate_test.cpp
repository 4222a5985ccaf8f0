// assay calibrate machine, as a user types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "suite/scenario/cost_model.hpp"
#include "tests/cli/program.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CalibrateTest : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    EnvironmentVariable data{"ASSAY_DATA", (folder / "data").string()};
    EnvironmentVariable lock{"ASSAY_LOCK", (folder / "lock").string()};

    static Printed calibrate(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"calibrate", "machine"});
        return run_program(ASSAY_DUMMY_PROGRAM, std::move(arguments));
    }
};

TEST_F(CalibrateTest, WritesProfilesThatTheCostModelTakes) {
    EXPECT_THROW(cluster_profile("this-machine"), UserError);
    const Printed printed = calibrate({"--quick", "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.err,
                AllOf(HasSubstr("measuring matrix products (1 of 7)"), HasSubstr("(7 of 7)")));
    const CostModel model(cluster_profile("this-machine"));
    const json said = json::parse(printed.out);
    EXPECT_EQ(said["device"], to_json(model.device(0))) << "what is printed is what is written";
    EXPECT_EQ(said["cluster"], to_json(model.cluster()));
    EXPECT_EQ(said["files"]["device"], this_machine_device_file().string());

    EXPECT_GE(said["load"], 0);
    EXPECT_EQ(said["readings"].size(), 7U);
    for (const json& reading : said["readings"]) {
        const std::string name = reading["name"];
        SCOPED_TRACE(name);
        EXPECT_EQ(reading["values"].size(), 3U);
        const json& number =
            said["device"].contains(name) ? said["device"][name] : said["cluster"][name];
        EXPECT_EQ(number["value"], reading["median"]);
        EXPECT_EQ(number["kind"], "measured");
        EXPECT_THAT(number["source"].get<std::string>(),
                    AllOf(StartsWith("assay calibrate machine, 20"), HasSubstr("median of 3")));
    }
    // What is not measured does not say that it is.
    for (const char* name : {"matmul_efficiency", "memory_efficiency", "launch_s"})
        EXPECT_EQ(said["device"][name]["kind"], "assumed") << name;
    for (const char* name : {"link_efficiency", "regroup_s"})
        EXPECT_EQ(said["cluster"][name]["kind"], "assumed") << name;
    EXPECT_THAT(said["device"]["matmul_flops"]["source"].get<std::string>(),
                HasSubstr("our blocked fp32 kernel"));
    EXPECT_GT(model.compute(0, {.flops = 1e9}), 0);

    const Printed table = calibrate({"--quick"});
    EXPECT_EQ(table.exit_code, 0) << table.err;
    EXPECT_THAT(table.out, AllOf(HasSubstr("FLOP/s"), HasSubstr("bytes/s"), HasSubstr("least to"),
                                 HasSubstr("this-machine.toml")));
}

TEST_F(CalibrateTest, AFolderThatCannotBeWrittenIsSaidBeforeMeasuring) {
    std::ofstream(folder / "data") << "a file where the folder should be";
    const Printed printed = calibrate({"--quick"});
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.err, AllOf(StartsWith("assay: the profiles cannot be written to "),
                                   HasSubstr("set ASSAY_DATA")));
    EXPECT_EQ(printed.out, "");
}

TEST_F(CalibrateTest, MistakesAreSentences) {
    const Printed unknown = run_program(ASSAY_DUMMY_PROGRAM, {"calibrate", "machin"});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.err, HasSubstr("did you mean 'machine'?"));
    EXPECT_EQ(run_program(ASSAY_DUMMY_PROGRAM, {"calibrate"}).exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "data"));
}

}  // namespace
}  // namespace assay::testing
