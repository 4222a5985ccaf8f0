// Faults that strike engines, real ones or those of virtual time.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "suite/scenario/fault_plan.hpp"

namespace assay::plato {

/// Throws UserError: a kind that engines do not know, no time, no rank; of corrupt another target
/// than a message.
void check_faults(std::span<const Fault> faults);

void sort_by_time(std::vector<Fault>& faults);
/// In its place among faults that are sorted.
void strike_later(std::vector<Fault>& faults, const Fault& fault);

/// A fault of its own: from then on the engine is as fast as it was.
Fault end_of_slowness(const Fault& fault, double struck_s);

/// A fault of this kind at a time, on an engine.
Fault engine_fault(FaultKind kind, double at_s, int engine);

}  // namespace assay::plato
