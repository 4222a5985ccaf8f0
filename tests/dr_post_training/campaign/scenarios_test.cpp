// The table of scenarios in virtual time, each with many ways in which its course can be timed.
#include "tests/dr_post_training/scenarios.hpp"

#include <gtest/gtest.h>

#include "impls/dr_post_training/campaign/virtual_schedule.hpp"

namespace assay::dr_post_training {
namespace {

class VirtualScenarios : public ::testing::TestWithParam<Scenario> {};

TEST_P(VirtualScenarios, KeepEveryRuleAndCountTheSameHoweverTheyAreTimed) {
    const GuardSettings settings{.steps = 8, .checkpoint_every = 2, .patience_s = 100};
    const auto faults = parse_fault_plan(GetParam().faults);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        elastic::expect_outcome(GetParam(), faults, run_virtual_training(settings, faults, seed));
    }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, VirtualScenarios,
                         ::testing::ValuesIn(elastic::rows_of(elastic::Clock::simulated,
                                                              scenarios())),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace assay::dr_post_training
