// The flag grammar: what is read, canonical text, and golden errors with positions.
#include <gtest/gtest.h>

#include "suite/scenario/fault_plan.hpp"

namespace {

// The error without the fault's text in front and the grammar behind: "position 6: …".
std::string complaint(std::string_view text) {
    try {
        assay::parse_fault(text);
    } catch (const assay::ScenarioError& error) {
        const std::string what = error.what();
        const auto from = what.rfind(", position ") + 2;
        return what.substr(from, what.find("; the form is ") - from);
    }
    return "accepted";
}

std::string canonical(std::string_view text) { return assay::to_string(assay::parse_fault(text)); }

}  // namespace

TEST(FaultText, ReadsAKill) {
    const assay::Fault fault = assay::parse_fault("kill:rank=1@step=5");
    EXPECT_EQ(fault.kind, assay::FaultKind::kill);
    EXPECT_EQ(fault.rank, 1);
    EXPECT_EQ(fault.step, 5);
    EXPECT_EQ(fault.t_s, std::nullopt);
    EXPECT_EQ(fault.phase, "");
}

TEST(FaultText, CanonicalFormIsAFixedPoint) {
    for (const char* text : {"kill:rank=1@step=5", "kill:rank=1,phase=regroup@t=0.25",
                             "hang:rank=2@step=3,for=0.5", "hang:rank=0@t=3", "stop:rank=7@step=0",
                             "join:count=3@step=4", "hang:rank=2@t=1e-07,for=1000000000"})
        EXPECT_EQ(canonical(text), text);
    EXPECT_EQ(canonical("join@step=4"), "join:count=1@step=4");
    EXPECT_EQ(canonical("kill:phase=transfer,rank=1@step=5"), "kill:rank=1,phase=transfer@step=5");
    EXPECT_EQ(canonical("hang:rank=1@for=2.50,t=1.0"), "hang:rank=1@t=1,for=2.5");
    EXPECT_EQ(canonical("  kill:rank=1@step=5 "), "kill:rank=1@step=5");
}

TEST(FaultText, PlansAreSeparatedBySemicolonsOrLines) {
    const auto plan =
        assay::parse_fault_plan("kill:rank=1@step=5;\n\n join@step=6 ; \nhang:rank=0@step=7,for=1");
    EXPECT_EQ(assay::to_string(plan),
              "kill:rank=1@step=5;join:count=1@step=6;hang:rank=0@step=7,for=1");
    EXPECT_EQ(assay::parse_fault_plan(assay::to_string(plan)), plan);
    EXPECT_TRUE(assay::parse_fault_plan("").empty());
    EXPECT_TRUE(assay::parse_fault_plan(" ;\n; ").empty());
}

TEST(FaultText, TheWholeMessage) {
    try {
        assay::parse_fault("kill:rank=x@step=5");
        FAIL() << "accepted";
    } catch (const assay::ScenarioError& error) {
        EXPECT_STREQ(error.what(),
                     "fault 'kill:rank=x@step=5', position 11: 'x' is not a whole number from 0 to "
                     "1000000; the form "
                     "is KIND:key=value,…@step=N|t=SECONDS[,for=SECONDS]");
    }
}

TEST(FaultText, GoldenErrors) {
    EXPECT_EQ(complaint(""), "position 1: unknown kind ''; known are kill, hang, stop, join");
    EXPECT_EQ(complaint("explode:rank=1@step=5"),
              "position 1: unknown kind 'explode'; known are kill, hang, stop, join");
    EXPECT_EQ(complaint("kill:rank=1"), "position 12: '@step=N' or '@t=SECONDS' is missing");
    EXPECT_EQ(complaint("kill:rank@step=5"),
              "position 10: '=' and a value are missing after 'rank'");
    EXPECT_EQ(complaint("kill:@step=5"), "position 6: '=' and a value are missing after ''");
    EXPECT_EQ(complaint("kill:rank=1@"), "position 13: '=' and a value are missing after ''");
    EXPECT_EQ(complaint("kill:rnk=1@step=5"),
              "position 6: unknown key 'rnk'; known are rank, count, phase, step, t, for");
    EXPECT_EQ(complaint("kill:rank=1,rank=2@step=5"), "position 13: 'rank' is given twice");
    EXPECT_EQ(complaint("kill:step=5@rank=1"), "position 6: 'step' belongs after the '@'");
    EXPECT_EQ(complaint("kill:rank=1@step=5,phase=step"),
              "position 20: 'phase' belongs before the '@'");
    EXPECT_EQ(complaint("kill:rank=1@step=5@t=2"), "position 19: unexpected '@'");
    EXPECT_EQ(complaint("kill:rank=1,phase=later@step=5"),
              "position 19: unknown phase 'later'; known are step, regroup, transfer");
    EXPECT_EQ(complaint("kill:rank=1@step=5,t=3"), "position 1: takes a step or a time, not both");
    EXPECT_EQ(complaint("kill:rank=1@for=3"), "position 1: only a hang takes 'for'");
    EXPECT_EQ(complaint("kill@step=3"),
              "position 1: kill needs a rank, for example kill:rank=1@step=5");
    EXPECT_EQ(complaint("kill:rank=1,count=1@step=3"), "position 1: only a join takes 'count'");
    EXPECT_EQ(complaint("join:rank=1@step=3"),
              "position 1: a join takes no rank: the newcomer gets the next free name");
    EXPECT_EQ(complaint("stop:rank=1,phase=regroup@step=3"),
              "position 1: a stop takes no phase: the worker finishes its step and leaves");
    EXPECT_EQ(complaint("hang:rank=1@step=3,for=0"),
              "position 24: a hang must last longer than 0 seconds");
}

TEST(FaultText, RefusesNumbersThatAreNone) {
    for (const char* number :
         {"", "-1", "+1", " 1", "1.5", "0x1", "nan", "1e3", "99999999999999999999"})
        EXPECT_NE(complaint("kill:rank=1@step=" + std::string(number)), "accepted") << number;
    for (const char* number : {"", "-1", "-0", "nan", "inf", "1e999", "1e10", "1s", "0x1"})
        EXPECT_NE(complaint("kill:rank=1@t=" + std::string(number)), "accepted") << number;
    EXPECT_NE(complaint("kill:rank=4294967297@step=1"), "accepted") << "does not wrap around";
    EXPECT_NE(complaint("join:count=0@step=1"), "accepted");
    EXPECT_EQ(complaint("kill:rank=1@t=0"), "accepted");
}

TEST(FaultText, ErrorsFitOnOneLineOfATerminal) {
    try {
        assay::parse_fault("kill\n\x1b[31m:" + std::string(5000, 'x'));
        FAIL() << "accepted";
    } catch (const assay::ScenarioError& error) {
        const std::string what = error.what();
        EXPECT_EQ(what.find_first_of("\n\x1b"), std::string::npos);
        EXPECT_LT(what.size(), 500u);
    }
}
