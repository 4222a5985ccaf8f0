// The table of scenarios in virtual time, each with many ways in which its course can be timed.
#include "tests/hetermoe/scenarios.hpp"

#include <gtest/gtest.h>

#include "impls/hetermoe/campaign/virtual_schedule.hpp"
#include "impls/hetermoe/live/fault_phases.hpp"

namespace assay::hetermoe {
namespace {

class VirtualScenarios : public ::testing::TestWithParam<Scenario> {};

TEST_P(VirtualScenarios, KeepEveryRuleAndCountTheSameHoweverTheyAreTimed) {
    const auto faults = parse_fault_plan(GetParam().faults, fault_phases());
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        elastic::expect_outcome(
            GetParam(), faults,
            run_virtual_training(controller_settings(GetParam().settings), faults, seed));
    }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, VirtualScenarios,
                         ::testing::ValuesIn(elastic::rows_of(elastic::Clock::simulated,
                                                              scenarios())),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace assay::hetermoe
