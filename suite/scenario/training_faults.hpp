// Fault plans of trainings across processes: read of a sample, and what they must be.
#pragma once

#include "suite/experiment/experiment.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay {

/// For Declaration::given: the sample's plan.
inline auto fault_plan_with(const FaultPhases& phases) {
    return [phases](const SampleSpec& spec) { return parse_fault_plan(spec.scenario, phases); };
}

/// What would only show in the middle of a training across processes. Throws UserError: this
/// machine has room for the workers and for those that join, the plan has no faults of engines, is
/// valid for the workers, and every fault strikes before the last step.
void check_training_faults(const FaultPlan& plan, int workers, std::int64_t steps,
                           const FaultPhases& phases = {});

}  // namespace assay
