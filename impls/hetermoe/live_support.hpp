// What runs in processes: in the module of tensors, where this build has it.
#pragma once

#include "impls/hetermoe/experiments/experiments.hpp"

namespace assay::hetermoe {

/// The emulated samples of fig6.
InProcesses fig6_in_processes();

}  // namespace assay::hetermoe
