// Plans that cannot work are refused with a reason; plans that can pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "suite/scenario/fault_plan.hpp"
#include "suite/scenario/training_faults.hpp"
#include "tests/scenario/own_phases.hpp"

namespace {

std::string complaint(const std::string& plan, int workers) {
    try {
        assay::validate(assay::parse_fault_plan(plan, own_phases), workers, own_phases);
    } catch (const assay::ScenarioError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST(FaultRules, ARankMustExist) {
    EXPECT_EQ(complaint("kill:rank=4@step=5", 4),
              "fault 'kill:rank=4@step=5': rank 4 never exists: there are ranks 0 to 3");
    EXPECT_EQ(
        complaint("join:count=2@step=2;kill:rank=6@step=5", 4),
        "fault 'kill:rank=6@step=5': rank 6 never exists: there are ranks 0 to 5, joins included");
    EXPECT_EQ(complaint("join:count=2@step=2;kill:rank=5@step=5", 4), "");
}

TEST(FaultRules, ANewcomerExistsOnlyAfterItsJoin) {
    EXPECT_EQ(
        complaint("kill:rank=4@step=2;join@step=6", 4),
        "fault 'kill:rank=4@step=2': rank 4 does not exist yet: 'join:count=1@step=6' brings it");
    EXPECT_NE(complaint("kill:rank=4@step=6;join@step=6", 4), "") << "joins are lazy";
    EXPECT_EQ(complaint("kill:rank=4@step=7;join@step=6", 4), "");
    // Names go by the time of the join, not by the line on which it stands.
    EXPECT_EQ(complaint("join@step=8;join@step=1;kill:rank=4@step=5", 4), "");
    EXPECT_NE(complaint("join@step=8;join@step=1;kill:rank=5@step=5", 4), "");
}

TEST(FaultRules, SomebodyMustStay) {
    EXPECT_EQ(complaint("kill:rank=0@step=1;stop:rank=1@step=3", 2),
              "the fault plan takes away all 2 workers; leave at least one");
    EXPECT_NE(complaint("kill:rank=0@step=1;hang:rank=1@step=3", 2), "")
        << "a hang for ever is a departure";
    EXPECT_EQ(complaint("kill:rank=0@step=1;hang:rank=1@step=3,for=1", 2), "");
    EXPECT_EQ(complaint("kill:rank=0@step=1;kill:rank=1@step=3;join@step=5", 2),
              "fault 'kill:rank=1@step=3': nobody is left at that point; the next join would come "
              "too late");
    EXPECT_NE(complaint("kill:rank=0@step=1;kill:rank=1@step=3;join@step=3", 2), "");
    EXPECT_EQ(complaint("kill:rank=0@step=1;kill:rank=1@step=3;join@step=2", 2), "");
    EXPECT_NE(complaint("kill:rank=0@step=1", 1), "");
}

TEST(FaultRules, OneDepartureEach) {
    EXPECT_EQ(complaint("kill:rank=1@step=2;stop:rank=1@t=9", 4),
              "fault 'stop:rank=1@t=9': rank 1 is already taken away by 'kill:rank=1@step=2'");
    EXPECT_NE(complaint("hang:rank=1@step=2;kill:rank=1@step=9", 4), "");
    EXPECT_EQ(complaint("hang:rank=1@step=2,for=1;kill:rank=1@step=9", 4), "");
}

TEST(FaultRules, PhasesFollowEachOtherAsDeclared) {
    const std::string kill = "kill:rank=1,phase=regroup@step=2;";
    EXPECT_NE(complaint(kill + "hang:rank=1,phase=transfer@step=2,for=1", 4), "");
    EXPECT_EQ(
        complaint("kill:rank=1,phase=transfer@step=2;hang:rank=1,phase=regroup@step=2,for=1", 4),
        "");
}

TEST(FaultRules, ATrainingFitsTheMachineBeforeAnythingStarts) {
    const assay::FaultPlan none, joins = assay::parse_fault_plan("join:count=10000@step=5", {});
    assay::FaultPlan many;
    for (int i = 0; i < 10'000; ++i) many.faults.push_back(joins.faults.front());
    EXPECT_NO_THROW(assay::check_training_faults(none, 2, 10));
    EXPECT_THROW(assay::check_training_faults(none, 100'000'000, 10), assay::NotSupportedHere);
    EXPECT_THROW(assay::check_training_faults(many, 2, 10), assay::NotSupportedHere)
        << "those that join";
}

TEST(FaultRules, NothingHangsAfterItLeft) {
    EXPECT_EQ(complaint("kill:rank=1@step=2;hang:rank=1@step=9,for=1", 4),
              "fault 'hang:rank=1@step=9,for=1': rank 1 is gone by then: 'kill:rank=1@step=2'");
    EXPECT_NE(complaint("hang:rank=1@step=9,for=1;kill:rank=1@step=9", 4), "");
    EXPECT_EQ(complaint("hang:rank=1@step=9,for=1;kill:rank=1,phase=regroup@step=9", 4), "");
    EXPECT_NE(complaint("hang:rank=1@t=1,for=5;hang:rank=1@t=3,for=1", 4), "");
    EXPECT_NE(complaint("hang:rank=1@t=3,for=1;hang:rank=1@t=1,for=5", 4), "");
    EXPECT_EQ(complaint("hang:rank=1@t=1,for=1;hang:rank=1@t=3,for=1", 4), "");
}

TEST(FaultRules, NothingHappensToARankThatIsGone) {
    for (const char* fault :
         {"slow:rank=1,factor=2@step=9", "link:rank=1,loss=0.1@step=9", "nan:rank=1@step=9",
          "corrupt:rank=1,target=tensor@step=9", "torn:rank=1@step=9", "disk_full:rank=1@step=9",
          "wipe:rank=1@step=9", "gpu_error:rank=1@step=9", "link:rank=2,peer=1,loss=0.1@step=9",
          "nan:rank=1@step=2"}) {
        const std::string text = fault;
        EXPECT_NE(complaint("kill:rank=1@step=2;" + text, 4)
                      .find("rank 1 is gone by then: 'kill:rank=1@step=2'"),
                  std::string::npos)
            << text;
        EXPECT_NE(complaint(text + ";stop:rank=1@step=2", 4), "") << text;
        EXPECT_NE(complaint(text + ";link:rank=1,cut=1@step=2", 4), "") << text;
        EXPECT_EQ(complaint(text + ";kill:rank=1@step=10", 4), "") << text;
        EXPECT_EQ(complaint(text + ";kill:rank=1@t=0.1", 4), "") << text << ": two clocks";
        EXPECT_EQ(complaint(text + ";kill:rank=3@step=1", 4), "") << text << ": somebody else";
    }
    EXPECT_EQ(complaint("link:rank=2,peer=1,cut=1@step=2;nan:rank=2@step=9", 4), "")
        << "it may be the peer that is evicted";
    EXPECT_EQ(complaint("link:rank=2,cut=1@step=2,for=1;nan:rank=2@step=9", 4), "") << "it heals";
    EXPECT_EQ(
        complaint("link:rank=2,cut=1@step=2;kill:rank=2@t=5", 4),
        "fault 'kill:rank=2@t=5': rank 2 is already taken away by 'link:rank=2,cut=1@step=2'");
}

TEST(FaultRules, WhatLastsDoesNotOverlapItself) {
    EXPECT_EQ(complaint("slow:rank=1,factor=2@t=1,for=5;slow:rank=1,factor=3@t=3,for=1", 4),
              "fault 'slow:rank=1,factor=3@t=3,for=1': rank 1 is slow already: "
              "'slow:rank=1,factor=2@t=1,for=5'");
    EXPECT_EQ(complaint("disk_full:rank=1@t=3;disk_full:rank=1@t=1,for=5", 4),
              "fault 'disk_full:rank=1@t=3': rank 1 has a full disk already: "
              "'disk_full:rank=1@t=1,for=5'");
    for (const char* lasting :
         {"slow:rank=1,factor=2", "link:rank=1,loss=0.1", "disk_full:rank=1"}) {
        const std::string one = lasting;
        EXPECT_NE(complaint(one + "@t=1,for=5;" + one + "@t=5.9,for=1", 4), "") << one;
        EXPECT_EQ(complaint(one + "@t=1,for=5;" + one + "@t=6,for=1", 4), "") << one;
        EXPECT_NE(complaint(one + "@step=4,for=5;" + one + "@step=4,for=1", 4), "") << one;
        EXPECT_EQ(complaint(one + "@step=4,for=5;" + one + "@step=5,for=1", 4), "")
            << one << ": how many steps five seconds are is not known";
        EXPECT_EQ(complaint(one + "@step=4;" + one + "@t=1", 4), "") << one << ": two clocks";
        // Without an end it lasts to the end, but for a full disk: one checkpoint.
        EXPECT_EQ(complaint(one + "@step=4;" + one + "@step=9,for=1", 4).empty(),
                  one == "disk_full:rank=1")
            << one;
        EXPECT_EQ(complaint(one + "@step=9;" + one + "@step=4,for=1", 4), "") << one;
    }
    EXPECT_EQ(complaint("slow:rank=1,factor=2@t=1;slow:rank=2,factor=2@t=1", 4), "");
    EXPECT_EQ(
        complaint("slow:rank=1,factor=2@t=1;link:rank=1,loss=0.1@t=1;disk_full:rank=1@t=1", 4), "");
}

TEST(FaultRules, ALinkIsTheSameFromBothEnds) {
    const auto both = [](const std::string& one, const std::string& other) {
        return complaint("link:" + one + ",loss=0.1@t=1,for=5;link:" + other + ",latency=1@t=2", 4);
    };
    EXPECT_EQ(both("rank=1,peer=2", "rank=2,peer=1"),
              "fault 'link:rank=2,peer=1,latency=1@t=2': rank 2 has a link fault there already: "
              "'link:rank=1,peer=2,loss=0.1@t=1,for=5'");
    EXPECT_NE(both("rank=1,peer=2", "rank=1,peer=2"), "");
    EXPECT_NE(both("rank=1", "rank=1"), "");
    EXPECT_NE(both("rank=1", "rank=1,peer=2"), "") << "everybody includes 2";
    EXPECT_NE(both("rank=2,peer=1", "rank=1"), "");
    EXPECT_EQ(both("rank=1,peer=2", "rank=1,peer=3"), "");
    EXPECT_EQ(both("rank=1,peer=2", "rank=3"), "");
    EXPECT_EQ(both("rank=1", "rank=2"), "") << "two bad network cards";
}

TEST(FaultRules, APeerMustExistToo) {
    EXPECT_EQ(
        complaint("link:rank=1,peer=4,loss=0.1@step=5", 4),
        "fault 'link:rank=1,peer=4,loss=0.1@step=5': rank 4 never exists: there are ranks 0 to "
        "3");
    EXPECT_NE(complaint("link:rank=1,peer=4,loss=0.1@step=5;join@step=5", 4), "");
    EXPECT_EQ(complaint("link:rank=1,peer=4,loss=0.1@step=6;join@step=5", 4), "");
}

TEST(FaultRules, ACutThatNeverHealsCostsAWorker) {
    EXPECT_NE(complaint("link:rank=0,cut=1@step=1;kill:rank=1@step=5", 2), "");
    EXPECT_NE(complaint("link:rank=0,peer=1,cut=1@step=1;kill:rank=1@step=5", 2), "");
    EXPECT_EQ(complaint("link:rank=0,cut=1@step=1,for=1;kill:rank=1@step=5", 2), "");
    EXPECT_EQ(complaint("link:rank=0,loss=0.9@step=1;kill:rank=1@step=5", 2), "");
    EXPECT_EQ(complaint("link:rank=0,cut=1@step=1;kill:rank=1@step=5", 3), "");
    EXPECT_NE(complaint("link:rank=0,cut=1@step=1;kill:rank=1@step=5;join@step=6", 2), "");
}

TEST(FaultRules, FaultsMadeInCodeAreCheckedToo) {
    assay::FaultPlan plan;
    plan.faults.resize(1);
    plan.faults[0].rank = 1;
    EXPECT_THROW(assay::validate(plan, 4, own_phases), assay::ScenarioError)
        << "neither step nor time";
    plan.faults[0].step = 3;
    EXPECT_NO_THROW(assay::validate(plan, 4, own_phases));
    plan.faults[0].rank = -1;
    EXPECT_THROW(assay::validate(plan, 4, own_phases), assay::ScenarioError);
    plan.faults[0].rank = 1;
    plan.faults[0].factor = 2;
    EXPECT_THROW(assay::validate(plan, 4, own_phases), assay::ScenarioError)
        << "a kill has no factor";
    plan.faults[0].kind = assay::FaultKind::slow;
    EXPECT_NO_THROW(assay::validate(plan, 4, own_phases));
    plan.faults[0].factor = std::nan("");
    EXPECT_THROW(assay::validate(plan, 4, own_phases), assay::ScenarioError);
    EXPECT_THROW(assay::validate({}, 0, own_phases), assay::ScenarioError);
    EXPECT_NO_THROW(assay::validate({}, 1, own_phases));
}

TEST(FaultRules, TheOrderInWhichFaultsAreListedDoesNotMatter) {
    for (const char* text :
         {"kill:rank=0@step=1;kill:rank=1@step=3;join@step=5",
          "kill:rank=0@step=1;join@step=2;stop:rank=2@step=4",
          "hang:rank=1@step=9,for=1;kill:rank=1@step=9;join@step=1",
          "hang:rank=1@step=2,for=1;hang:rank=1@step=3,for=1;kill:rank=0@step=3",
          "slow:rank=1,factor=2@step=2;slow:rank=1,factor=4@step=3,for=1;kill:rank=0@step=3",
          "slow:rank=1,factor=2@step=3;slow:rank=1,factor=4@step=2,for=1;kill:rank=0@step=3",
          "link:rank=1,loss=0.1@t=1,for=2;link:rank=0,peer=1,loss=0.2@t=2;nan:rank=0@t=1",
          "link:rank=1,loss=0.1@t=1,for=1;link:rank=0,peer=1,loss=0.2@t=2;nan:rank=0@t=1",
          "link:rank=1,cut=1@step=5;torn:rank=1@step=3;nan:rank=0@step=9",
          "link:rank=1,cut=1@step=5;torn:rank=1@step=5;nan:rank=0@step=9"}) {
        assay::FaultPlan plan = assay::parse_fault_plan(text, own_phases);
        const bool accepted = complaint(text, 2).empty();
        std::vector<std::size_t> order{0, 1, 2};
        do {
            assay::FaultPlan permuted;
            for (const std::size_t i : order) permuted.faults.push_back(plan.faults[i]);
            EXPECT_EQ(complaint(assay::to_string(permuted), 2).empty(), accepted)
                << assay::to_string(permuted);
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST(FaultRules, WorkersOfATrainingHaveNeitherRolesNorNames) {
    for (const char* text : {"kill:role=engine,rank=1@step=2", "kill:instance=x@t=2"})
        EXPECT_THROW(assay::validate(assay::parse_fault_plan(text, own_phases), 4, own_phases),
                     assay::ScenarioError);
}

TEST(FaultRules, ATrainingRefusesWhatOnlyEnginesCanLose) {
    for (const std::string fault : {"wipe:rank=0@t=0.5", "gpu_error:rank=0@step=3"}) {
        const auto plan = assay::parse_fault_plan("kill:rank=1@step=2;" + fault, own_phases);
        EXPECT_NO_THROW(assay::validate(plan, 4, own_phases));
        try {
            assay::check_training_faults(plan, 4, 10, own_phases);
            FAIL() << "accepted";
        } catch (const assay::ScenarioError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("fault '" + fault + "': a training"))
                << error.what();
        }
    }
    EXPECT_NO_THROW(
        assay::refuse_faults_of_engines(assay::parse_fault_plan("kill:rank=1@step=2", own_phases)));
}
