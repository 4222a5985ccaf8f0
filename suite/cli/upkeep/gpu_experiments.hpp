// What of profile gpu would run on this machine.
#pragma once

#include <optional>

#include "suite/experiment/system.hpp"
#include "suite/measure/machine_findings.hpp"

namespace assay::cli {

/// Which experiments have the profile gpu; where there is a GPU (`any_gpu`), also whether each
/// would run: its own answer for its first case and each variant. Systems with claims and without
/// one are named. None where no system has one.
std::optional<measure::Finding> gpu_experiments(const Registry& registry, bool any_gpu);

}  // namespace assay::cli
