// The suite's own experiment: the control workload, `assay run assay/control`.
#pragma once

#include "suite/experiment/system.hpp"

namespace assay::control {

/// The system "assay". It reproduces nothing, so that only its own name selects it.
System make_system();

}  // namespace assay::control
