// Plans that cannot work are refused with a reason; plans that can pass.
#include <gtest/gtest.h>

#include <algorithm>

#include "suite/scenario/fault_plan.hpp"

namespace {

std::string complaint(const std::string& plan, int workers) {
    try {
        assay::validate(assay::parse_fault_plan(plan), workers);
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

TEST(FaultRules, NothingHangsAfterItLeft) {
    EXPECT_EQ(complaint("kill:rank=1@step=2;hang:rank=1@step=9,for=1", 4),
              "fault 'hang:rank=1@step=9,for=1': rank 1 is gone by then: 'kill:rank=1@step=2'");
    EXPECT_NE(complaint("hang:rank=1@step=9,for=1;kill:rank=1@step=9", 4), "");
    EXPECT_EQ(complaint("hang:rank=1@step=9,for=1;kill:rank=1,phase=regroup@step=9", 4), "");
    EXPECT_NE(complaint("hang:rank=1@t=1,for=5;hang:rank=1@t=3,for=1", 4), "");
    EXPECT_NE(complaint("hang:rank=1@t=3,for=1;hang:rank=1@t=1,for=5", 4), "");
    EXPECT_EQ(complaint("hang:rank=1@t=1,for=1;hang:rank=1@t=3,for=1", 4), "");
}

TEST(FaultRules, FaultsMadeInCodeAreCheckedToo) {
    assay::FaultPlan plan;
    plan.faults.resize(1);
    plan.faults[0].rank = 1;
    EXPECT_THROW(assay::validate(plan, 4), assay::ScenarioError) << "neither step nor time";
    plan.faults[0].step = 3;
    EXPECT_NO_THROW(assay::validate(plan, 4));
    plan.faults[0].rank = -1;
    EXPECT_THROW(assay::validate(plan, 4), assay::ScenarioError);
    EXPECT_THROW(assay::validate({}, 0), assay::ScenarioError);
    EXPECT_NO_THROW(assay::validate({}, 1));
}

TEST(FaultRules, TheOrderInWhichFaultsAreListedDoesNotMatter) {
    for (const char* text :
         {"kill:rank=0@step=1;kill:rank=1@step=3;join@step=5",
          "kill:rank=0@step=1;join@step=2;stop:rank=2@step=4",
          "hang:rank=1@step=9,for=1;kill:rank=1@step=9;join@step=1",
          "hang:rank=1@step=2,for=1;hang:rank=1@step=3,for=1;kill:rank=0@step=3"}) {
        assay::FaultPlan plan = assay::parse_fault_plan(text);
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
