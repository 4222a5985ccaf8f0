// Scenario files: the same faults as flags, golden errors, and the files that are shipped.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "suite/scenario/fault_plan.hpp"
#include "tests/scenario/own_phases.hpp"

namespace {

std::string complaint(const std::string& toml) {
    try {
        assay::read_scenario(toml, "s.toml", own_phases);
    } catch (const assay::ScenarioError& error) {
        return error.what();
    }
    return "accepted";
}

std::string fault(const std::string& keys) { return "[[fault]]\n" + keys + "\n"; }

}  // namespace

TEST(ScenarioFile, ReadsWhatAFlagReads) {
    const auto plan = assay::read_scenario(R"(
says = "everything"
[[fault]]
kind = "hang"
rank = 2
phase = "regroup"
t = 1
for = 0.5
[[fault]]
kind = "join"
count = 2
step = 4
)",
                                           "s.toml", own_phases);
    EXPECT_EQ(plan, assay::parse_fault_plan(
                        "hang:rank=2,phase=regroup@t=1,for=0.5;join:count=2@step=4", own_phases));
    EXPECT_TRUE(assay::read_scenario("", "s.toml", own_phases).empty());
}

TEST(ScenarioFile, EveryKindHasItsFlag) {
    const std::vector<std::pair<std::string, std::string>> pairs{
        {"kind = 'slow'\nrank = 1\nfactor = 4\nstep = 5\nfor = 10",
         "slow:rank=1,factor=4@step=5,for=10"},
        {"kind = 'slow'\nrank = 1\nfactor = 4\nby = 'duty_cycle'\nstep = 5",
         "slow:rank=1,factor=4,by=duty_cycle@step=5"},
        {"kind = 'link'\nrank = 2\npeer = 3\nlatency = 0.01\nbandwidth = 1e6\nloss = 0.05\nt = 3\n"
         "for = 5",
         "link:rank=2,peer=3,latency=0.01,bandwidth=1e6,loss=0.05@t=3,for=5"},
        {"kind = 'link'\nrank = 2\ncut = true\nstep = 4", "link:rank=2,cut=1@step=4"},
        {"kind = 'link'\nrank = 2\ncut = 1\nstep = 4", "link:rank=2,cut=1@step=4"},
        {"kind = 'link'\nrank = 2\ncut = false\nloss = 0.1\nstep = 4",
         "link:rank=2,loss=0.1@step=4"},
        {"kind = 'corrupt'\nrank = 1\ntarget = 'message'\nphase = 'transfer'\nstep = 3",
         "corrupt:rank=1,target=message,phase=transfer@step=3"},
        {"kind = 'nan'\nrank = 1\nstep = 4", "nan:rank=1@step=4"},
        {"kind = 'torn'\nrank = 0\nstep = 6", "torn:rank=0@step=6"},
        {"kind = 'disk_full'\nrank = 0\nstep = 6\nfor = 2", "disk_full:rank=0@step=6,for=2"}};
    for (const auto& [toml, flag] : pairs)
        EXPECT_EQ(assay::read_scenario(fault(toml), "s.toml", own_phases),
                  assay::parse_fault_plan(flag, own_phases))
            << flag;
}

TEST(ScenarioFile, GoldenErrors) {
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nstep = 5")), "accepted");
    EXPECT_EQ(complaint(fault("rank = 1")), "s.toml:1:1: [[fault]] lacks 'kind'");
    EXPECT_EQ(complaint(fault("kind = 'boom'")),
              "s.toml:2:8: [[fault]]: 'kind' is 'boom'; known are kill, hang, stop, join, slow, "
              "link, corrupt, nan, torn, disk_full, wipe, gpu_error");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = -1\nstep = 5")),
              "s.toml:3:8: [[fault]]: 'rank' must be a whole number from 0 to 1000000");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1.0\nstep = 5")),
              "s.toml:3:8: [[fault]]: 'rank' must be a whole number from 0 to 1000000");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nt = -1")),
              "s.toml:4:5: [[fault]]: 't' must be a number of seconds from 0 to 1000000000");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nt = nan")),
              "s.toml:4:5: [[fault]]: 't' must be a finite number");
    EXPECT_EQ(complaint(fault("kind = 'hang'\nrank = 1\nt = 1\nfor = 0")),
              "s.toml:5:7: [[fault]]: 'for' must be a number of seconds above 0 up to "
              "1000000000");
    EXPECT_EQ(complaint("\n" + fault("kind = 'kill'\nrank = 1")),
              "s.toml:2:1: needs a step or a time, for example @step=5");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nsteps = 5")),
              "s.toml:4:9: [[fault]]: 'steps' is not a known key; kill takes rank, role, instance, "
              "phase, "
              "step, t");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nlatency = 0\nstep = 5")),
              "s.toml:4:11: [[fault]]: 'latency' does not belong here: only link takes 'latency'");
    EXPECT_EQ(complaint(fault("kind = 'slow'\nrank = 1\nfactor = 1\nstep = 5")),
              "s.toml:4:10: [[fault]]: 'factor' must be a number above 1 up to 1000");
    EXPECT_EQ(complaint(fault("kind = 'slow'\nrank = 1\nfactor = 2\nby = 'nice'\nstep = 5")),
              "s.toml:5:6: [[fault]]: 'by' must be one of quota, duty_cycle");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nphase = 'tranfser'\nstep = 5")),
              "s.toml:4:9: [[fault]]: 'phase' must be one of step, regroup, transfer (did you mean "
              "'transfer'?)");
    EXPECT_EQ(complaint(fault("kind = 'link'\nrank = 1\ncut = 2\nstep = 5")),
              "s.toml:4:7: [[fault]]: 'cut' must be true or false");
    EXPECT_EQ(complaint(fault("kind = 'link'\nrank = 1\ncut = 'yes'\nstep = 5")),
              "s.toml:4:7: [[fault]]: 'cut' must be true or false");
    EXPECT_EQ(complaint(fault("kind = 'corrupt'\nrank = 1\ntarget = 'disk'\nstep = 5")),
              "s.toml:4:10: [[fault]]: 'target' must be one of message, tensor");
    EXPECT_EQ(complaint(fault("kind = 'link'\nrank = 1\nstep = 5")),
              "s.toml:1:1: link needs latency, bandwidth, loss or cut, for example "
              "link:rank=1,peer=2,latency=0.01@step=5,for=10");
    EXPECT_EQ(complaint("fault = 3"), "s.toml:1:9: scenario: 'fault' must be an array");
    EXPECT_EQ(complaint("[[falt]]"),
              "s.toml:1:1: scenario: 'falt' is not a known key; known are: fault, says");
    EXPECT_EQ(complaint("kind = \n").substr(0, 27), "s.toml:1:8: not valid TOML:");
}

TEST(ScenarioFile, AMissingFileIsNamed) {
    try {
        assay::read_scenario(std::filesystem::path("no/such.toml"), own_phases);
        FAIL() << "accepted";
    } catch (const assay::ScenarioError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("no/such.toml:1:1: ", 0), 0u) << error.what();
    }
}

// What lazarus/x_live has by default: six workers and forty steps.
TEST(ScenarioFile, EveryShippedScenarioWorksWithSixWorkers) {
    std::set<std::string> kinds;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(ASSAY_TEST_DATASETS) / "scenarios")) {
        if (entry.path().extension() != ".toml") continue;
        assay::FaultPlan plan;
        ASSERT_NO_THROW(plan = assay::read_scenario(entry.path(), own_phases)) << entry.path();
        EXPECT_FALSE(plan.empty()) << entry.path();
        try {
            assay::validate(plan, 6, own_phases);
        } catch (const assay::ScenarioError& error) {
            ADD_FAILURE() << entry.path() << ": " << error.what();
        }
        EXPECT_EQ(assay::parse_fault_plan(assay::to_string(plan), own_phases), plan)
            << entry.path();
        for (const assay::Fault& fault : plan.faults) {
            EXPECT_LT(fault.step.value_or(0), 40) << entry.path();
            kinds.insert(std::string(assay::to_string(fault.kind)) + (fault.cut ? " cut" : "") +
                         (fault.target.empty() ? "" : " ") + fault.target);
        }
    }
    EXPECT_EQ(kinds, (std::set<std::string>{"corrupt message", "corrupt tensor", "disk_full",
                                            "hang", "join", "kill", "link", "link cut", "nan",
                                            "slow", "stop", "torn", "wipe"}));
}
