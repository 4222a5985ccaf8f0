// Scenario files: the same faults as flags, golden errors, and the files that are shipped.
#include <gtest/gtest.h>

#include <filesystem>

#include "suite/scenario/fault_plan.hpp"

namespace {

std::string complaint(const std::string& toml) {
    try {
        assay::read_scenario(toml, "s.toml");
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
                                           "s.toml");
    EXPECT_EQ(plan,
              assay::parse_fault_plan("hang:rank=2,phase=regroup@t=1,for=0.5;join:count=2@step=4"));
    EXPECT_TRUE(assay::read_scenario("", "s.toml").empty());
}

TEST(ScenarioFile, GoldenErrors) {
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nstep = 5")), "accepted");
    EXPECT_EQ(complaint(fault("rank = 1")), "s.toml:1:1: [[fault]] lacks 'kind'");
    EXPECT_EQ(complaint(fault("kind = 'boom'")),
              "s.toml:2:8: [[fault]]: 'kind' is 'boom'; known are kill, hang, stop, join");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = -1\nstep = 5")),
              "s.toml:3:8: [[fault]]: 'rank' must be a whole number from 0 to 1000000");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1.0\nstep = 5")),
              "s.toml:3:8: [[fault]]: 'rank' must be a whole number from 0 to 1000000");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nt = -1")),
              "s.toml:4:5: [[fault]]: 't' must be a number of seconds from 0 to 1e9");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nt = nan")),
              "s.toml:4:5: [[fault]]: 't' must be a finite number");
    EXPECT_EQ(complaint(fault("kind = 'hang'\nrank = 1\nt = 1\nfor = 0")),
              "s.toml:5:7: [[fault]]: 'for' must be longer than 0 seconds");
    EXPECT_EQ(complaint("\n" + fault("kind = 'kill'\nrank = 1")),
              "s.toml:2:1: needs a step or a time, for example @step=5");
    EXPECT_EQ(complaint(fault("kind = 'kill'\nrank = 1\nsteps = 5")),
              "s.toml:4:9: [[fault]]: 'steps' is not a known key; known are: count, for, kind, "
              "phase, rank, step, t");
    EXPECT_EQ(complaint("fault = 3"), "s.toml:1:9: scenario: 'fault' must be an array");
    EXPECT_EQ(complaint("[[falt]]"),
              "s.toml:1:1: scenario: 'falt' is not a known key; known are: fault, says");
    EXPECT_EQ(complaint("kind = \n").substr(0, 27), "s.toml:1:8: not valid TOML:");
}

TEST(ScenarioFile, AMissingFileIsNamed) {
    try {
        assay::read_scenario(std::filesystem::path("no/such.toml"));
        FAIL() << "accepted";
    } catch (const assay::ScenarioError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("no/such.toml:1:1: ", 0), 0u) << error.what();
    }
}

TEST(ScenarioFile, EveryShippedScenarioWorksWithFourWorkers) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(ASSAY_TEST_DATASETS) / "scenarios")) {
        if (entry.path().extension() != ".toml") continue;
        ++files;
        const assay::FaultPlan plan = assay::read_scenario(entry.path());
        EXPECT_FALSE(plan.empty()) << entry.path();
        EXPECT_NO_THROW(assay::validate(plan, 4)) << entry.path();
        EXPECT_EQ(assay::parse_fault_plan(assay::to_string(plan)), plan) << entry.path();
    }
    EXPECT_GE(files, 5);
}
