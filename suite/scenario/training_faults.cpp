#include "suite/scenario/training_faults.hpp"

#include <fmt/format.h>

namespace assay {

void check_training_faults(const FaultPlan& plan, int workers, std::int64_t steps,
                           const FaultPhases& phases) {
    refuse_wipes(plan);
    validate(plan, workers, phases);
    for (const Fault& fault : plan.faults)
        if (fault.step && *fault.step >= steps)
            throw UserError(
                fmt::format("fault '{}' would never strike: the training has {} steps, 0 to {}",
                            to_string(fault), steps, steps - 1));
}

}  // namespace assay
