// Fault flags: an error or a fault; what is accepted reads back from its canonical text unchanged.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "suite/scenario/fault_plan.hpp"
#include "tests/scenario/own_phases.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const assay::FaultPlan plan = assay::parse_fault_plan(text, own_phases);
        if (assay::parse_fault_plan(assay::to_string(plan), own_phases) != plan) std::abort();
        for (const assay::Fault& fault : plan.faults)
            if (assay::parse_fault(assay::to_string(fault), own_phases) != fault) std::abort();
        assay::validate(plan, 4, own_phases);
    } catch (const assay::ScenarioError&) {
    }
    return 0;
}
