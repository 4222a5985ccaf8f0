#include "suite/scenario/training_faults.hpp"

#include <fmt/format.h>

#include "suite/measure/hardware/worker_room.hpp"

namespace assay {
namespace {

std::int64_t joining(const FaultPlan& plan) {
    std::int64_t workers = 0;
    for (const Fault& fault : plan.faults)
        if (fault.kind == FaultKind::join) workers += fault.count;
    return workers;
}

}  // namespace

void check_training_faults(const FaultPlan& plan, int workers, std::int64_t steps,
                           const FaultPhases& phases) {
    measure::require_room_for_workers(workers, joining(plan));
    refuse_faults_of_engines(plan);
    validate(plan, workers, phases);
    for (const Fault& fault : plan.faults)
        if (fault.step && *fault.step >= steps)
            throw UserError(
                fmt::format("fault '{}' would never strike: the training has {} steps, 0 to {}",
                            to_string(fault), steps, steps - 1));
}

}  // namespace assay
