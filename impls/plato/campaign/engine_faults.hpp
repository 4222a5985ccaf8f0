// Faults that strike engines, real ones or those of virtual time.
#pragma once

#include <span>

#include "suite/scenario/fault_plan.hpp"

namespace assay::plato {

/// Throws UserError: a kind that engines do not know, no time, no rank; of corrupt another target
/// than a message.
void check_faults(std::span<const Fault> faults);

/// A fault of this kind at a time, on an engine.
Fault engine_fault(FaultKind kind, double at_s, int engine);

}  // namespace assay::plato
