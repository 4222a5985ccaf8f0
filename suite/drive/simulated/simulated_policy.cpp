#include "suite/drive/simulated/simulated_policy.hpp"

namespace assay::drive {

void require_simulated(const FaultPlan& plan) {
    for (const Fault& fault : plan.faults) {
        const bool known = fault.kind == FaultKind::kill || fault.kind == FaultKind::hang ||
                           fault.kind == FaultKind::stop || fault.kind == FaultKind::join ||
                           fault.kind == FaultKind::slow;
        if (known && fault.t_s) continue;
        throw NotSupportedHere(
            fmt::format("the fault {} cannot be simulated: kill, hang, stop, join and slow at a "
                        "time (@t=SECONDS) can; others need processes",
                        to_string(fault)));
    }
}

}  // namespace assay::drive
