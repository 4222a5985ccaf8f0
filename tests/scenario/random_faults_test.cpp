// Random plans: the same everywhere for one seed, always valid, and rich enough for a campaign.
#include <gtest/gtest.h>

#include <set>

#include "suite/scenario/fault_plan.hpp"
#include "tests/scenario/own_phases.hpp"

using assay::FaultKind;

TEST(RandomFaults, ASeedNamesOnePlanOnEveryPlatform) {
    EXPECT_EQ(assay::to_string(assay::random_fault_plan({}, 1, own_phases)),
              "kill:rank=2@step=2;hang:rank=3@step=2,for=0.9");
    EXPECT_EQ(assay::to_string(assay::random_fault_plan({8, 30, 5, true, true}, 42, own_phases)),
              "hang:rank=0@step=9;kill:rank=2@step=12;kill:rank=6@step=12;kill:rank=5@step=23;join:"
              "count=1@step=27");
}

// Stored campaigns name their plans by seed: what came later (network, data) must not change them.
// FNV-1a over the 8400 texts, taken before the new kinds were there.
TEST(RandomFaults, OldSeedsKeepTheirPlans) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const int workers : {1, 2, 3, 4, 6, 8, 16})
        for (const int faults : {1, 2, 5, 12})
            for (std::uint64_t seed = 0; seed < 300; ++seed) {
                const assay::RandomFaults shape{workers, 20, faults, seed % 2 == 0, seed % 3 == 0};
                for (const char letter :
                     assay::to_string(assay::random_fault_plan(shape, seed, own_phases)) + "\n") {
                    hash ^= static_cast<unsigned char>(letter);
                    hash *= 1099511628211ULL;
                }
            }
    EXPECT_EQ(hash, 3287222739330771995ULL);
    EXPECT_EQ(assay::to_string(assay::random_fault_plan({6, 20, 4, true, true}, 1, own_phases)),
              "kill:rank=3@step=4;kill:rank=4,phase=transfer@step=4;hang:rank=1@step=4,for=0.1;"
              "stop:rank=0@step=14");
    EXPECT_EQ(assay::to_string(assay::random_fault_plan({6, 20, 4, true, true}, 6, own_phases)),
              "join:count=1@step=4;kill:rank=0@step=11;join:count=1@step=13;"
              "kill:rank=3,phase=transfer@step=11");
}

TEST(RandomFaults, EveryPlanIsValidAndReadsBack) {
    for (const int workers : {1, 2, 3, 4, 8})
        for (const int faults : {0, 1, 2, 5, 12})
            for (std::uint64_t seed = 0; seed < 200; ++seed) {
                const assay::RandomFaults shape{workers, 12, faults, seed % 2 == 0, seed % 3 == 0};
                const assay::FaultPlan plan = assay::random_fault_plan(shape, seed, own_phases);
                ASSERT_NO_THROW(assay::validate(plan, workers, own_phases))
                    << assay::to_string(plan);
                ASSERT_EQ(assay::parse_fault_plan(assay::to_string(plan), own_phases), plan);
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
        const assay::FaultPlan plan =
            assay::random_fault_plan({6, 20, 4, true, true}, seed, own_phases);
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

TEST(RandomFaults, WithoutDeclaredPhasesNoFaultNamesOne) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const assay::FaultPlan plan =
            assay::random_fault_plan({6, 20, 6, true, true, true, true}, seed);
        ASSERT_NO_THROW(assay::validate(plan, 6)) << assay::to_string(plan);
        for (const assay::Fault& fault : plan.faults)
            ASSERT_EQ(fault.phase, "") << assay::to_string(plan);
    }
}

TEST(RandomFaults, NetworkAndDataPlansAreValidToo) {
    using assay::FaultKind;
    const std::set<FaultKind> network{FaultKind::slow, FaultKind::link};
    const std::set<FaultKind> data{FaultKind::corrupt, FaultKind::nan, FaultKind::torn,
                                   FaultKind::disk_full};
    for (const int workers : {1, 2, 3, 6})
        for (const int faults : {1, 4, 12})
            for (std::uint64_t seed = 0; seed < 400; ++seed) {
                const assay::RandomFaults shape{workers,       12,           faults,       true,
                                                seed % 2 == 0, seed % 3 > 0, seed % 3 != 1};
                const assay::FaultPlan plan = assay::random_fault_plan(shape, seed, own_phases);
                ASSERT_NO_THROW(assay::validate(plan, workers, own_phases))
                    << assay::to_string(plan);
                ASSERT_EQ(assay::parse_fault_plan(assay::to_string(plan), own_phases), plan);
                std::set<int> harmed;
                long names = workers;
                for (const assay::Fault& fault : plan.faults) {
                    ASSERT_TRUE(shape.network || !network.contains(fault.kind));
                    ASSERT_TRUE(shape.data || !data.contains(fault.kind));
                    if (network.contains(fault.kind)) {
                        ASSERT_TRUE(fault.for_s && *fault.for_s >= 0.05 && *fault.for_s <= 0.5)
                            << assay::to_string(fault);
                    }
                    names += fault.kind == FaultKind::join ? fault.count : 0;
                    const bool harmless =
                        network.contains(fault.kind) ||
                        (data.contains(fault.kind) && fault.kind != FaultKind::corrupt);
                    if (fault.rank && !harmless) harmed.insert(*fault.rank);
                }
                ASSERT_LT(static_cast<long>(harmed.size()), names) << assay::to_string(plan);
            }
}

TEST(RandomFaults, NetworkAndDataCampaignsMeetEveryKind) {
    std::set<std::string> met;
    for (std::uint64_t seed = 0; seed < 400; ++seed)
        for (const assay::Fault& fault :
             assay::random_fault_plan({6, 20, 6, true, true, true, true}, seed, own_phases)
                 .faults) {
            std::string what(assay::to_string(fault.kind));
            for (const auto& [has, name] :
                 {std::pair{fault.cut, " cut"}, std::pair{fault.latency_s > 0, " latency"},
                  std::pair{fault.bandwidth > 0, " bandwidth"}, std::pair{fault.loss > 0, " loss"},
                  std::pair{fault.peer.has_value(), " peer"}})
                if (has) what += name;
            if (fault.kind == FaultKind::disk_full && fault.for_s) what += " for a while";
            if (!fault.target.empty()) what += ' ' + fault.target;
            if (!fault.phase.empty()) what += " in " + fault.phase;
            met.insert(what);
        }
    EXPECT_EQ(met, (std::set<std::string>{"corrupt message",
                                          "corrupt message in transfer",
                                          "corrupt tensor",
                                          "disk_full",
                                          "disk_full for a while",
                                          "hang",
                                          "join",
                                          "kill",
                                          "kill in regroup",
                                          "kill in transfer",
                                          "link bandwidth",
                                          "link bandwidth peer",
                                          "link cut",
                                          "link cut peer",
                                          "link latency",
                                          "link latency loss",
                                          "link latency loss peer",
                                          "link latency peer",
                                          "link loss",
                                          "link loss peer",
                                          "nan",
                                          "slow",
                                          "stop",
                                          "torn"}));
}

TEST(RandomFaults, RefusesShapesThatHaveNoPlan) {
    EXPECT_THROW(assay::random_fault_plan({0, 12, 1, true, true}, 1, own_phases),
                 assay::ScenarioError);
    EXPECT_THROW(assay::random_fault_plan({4, 1, 1, true, true}, 1, own_phases),
                 assay::ScenarioError);
    EXPECT_THROW(assay::random_fault_plan({4, 12, -1, true, true}, 1, own_phases),
                 assay::ScenarioError);
    EXPECT_TRUE(assay::random_fault_plan({1, 12, 3, false, true}, 1, own_phases).empty());
}
