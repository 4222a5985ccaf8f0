// Scenario files: a ScenarioError or a plan that its canonical flag text reproduces.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "suite/scenario/fault_plan.hpp"
#include "tests/scenario/own_phases.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    assay::FaultPlan plan;
    try {
        plan = assay::read_scenario(text, "scenario.toml", own_phases);
    } catch (const assay::ScenarioError&) {
        return 0;
    }
    // A file accepts nothing that the flag grammar would refuse.
    if (assay::parse_fault_plan(assay::to_string(plan), own_phases) != plan) std::abort();
    try {
        assay::validate(plan, 4, own_phases);
    } catch (const assay::ScenarioError&) {
    }
    return 0;
}
