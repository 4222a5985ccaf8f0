// Fault plans of trainings: read of a sample, and what they must be.
#pragma once

#include "suite/experiment/experiment.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay {

/// For Declaration::given: the sample's plan.
inline auto fault_plan_with(const FaultPhases& phases) {
    return [phases](const SampleSpec& spec) { return parse_fault_plan(spec.scenario, phases); };
}

/// What the plan would only show in the middle of the training. Throws UserError: no wipes, valid
/// for the workers, and every fault strikes before the last step.
void check_training_faults(const FaultPlan& plan, int workers, std::int64_t steps,
                           const FaultPhases& phases = {});

}  // namespace assay
