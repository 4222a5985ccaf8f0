// Random plans: the same everywhere for one seed, always valid, and rich enough for a campaign.
#include <gtest/gtest.h>

#include <set>

#include "suite/scenario/fault_plan.hpp"

using assay::FaultKind;

TEST(RandomFaults, ASeedNamesOnePlanOnEveryPlatform) {
    EXPECT_EQ(assay::to_string(assay::random_fault_plan({}, 1)),
              "kill:rank=2@step=2;hang:rank=3@step=2,for=0.9");
    EXPECT_EQ(assay::to_string(assay::random_fault_plan({8, 30, 5, true, true}, 42)),
              "hang:rank=0@step=9;kill:rank=2@step=12;kill:rank=6@step=12;kill:rank=5@step=23;join:"
              "count=1@step=27");
}

TEST(RandomFaults, EveryPlanIsValidAndReadsBack) {
    for (const int workers : {1, 2, 3, 4, 8})
        for (const int faults : {0, 1, 2, 5, 12})
            for (std::uint64_t seed = 0; seed < 200; ++seed) {
                const assay::RandomFaults shape{workers, 12, faults, seed % 2 == 0, seed % 3 == 0};
                const assay::FaultPlan plan = assay::random_fault_plan(shape, seed);
                ASSERT_NO_THROW(assay::validate(plan, workers)) << assay::to_string(plan);
                ASSERT_EQ(assay::parse_fault_plan(assay::to_string(plan)), plan);
                ASSERT_LE(plan.faults.size(), static_cast<std::size_t>(faults));
                for (const assay::Fault& fault : plan.faults) {
                    ASSERT_TRUE(fault.step && *fault.step >= 1 && *fault.step < 12);
                    ASSERT_TRUE(shape.joins || fault.kind != FaultKind::join);
                    ASSERT_TRUE(shape.hangs || fault.kind != FaultKind::hang);
                }
            }
}

TEST(RandomFaults, ACampaignMeetsEveryKindAndPhase) {
    std::set<std::string> met, plans;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const assay::FaultPlan plan = assay::random_fault_plan({6, 20, 4, true, true}, seed);
        plans.insert(assay::to_string(plan));
        for (const assay::Fault& fault : plan.faults)
            met.insert(std::string(assay::to_string(fault.kind)) +
                       (fault.for_s ? " for a while" : "") +
                       (fault.phase.empty() ? "" : " in " + fault.phase));
    }
    EXPECT_EQ(met, (std::set<std::string>{"hang", "hang for a while", "join", "kill",
                                          "kill in regroup", "kill in transfer", "stop"}));
    EXPECT_GT(plans.size(), 95u);
}

TEST(RandomFaults, RefusesShapesThatHaveNoPlan) {
    EXPECT_THROW(assay::random_fault_plan({0, 12, 1, true, true}, 1), assay::ScenarioError);
    EXPECT_THROW(assay::random_fault_plan({4, 1, 1, true, true}, 1), assay::ScenarioError);
    EXPECT_THROW(assay::random_fault_plan({4, 12, -1, true, true}, 1), assay::ScenarioError);
    EXPECT_TRUE(assay::random_fault_plan({1, 12, 3, false, true}, 1).empty());
}
