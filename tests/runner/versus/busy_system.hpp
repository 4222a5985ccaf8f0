// The dummy system, and beside it one whose samples really compute.
#pragma once

#include "suite/experiment/system.hpp"

namespace assay::testing {

/// dummy, and "busy/spin": measured, axis ms, variants same, again, slowed (a fifth more work).
Registry make_busy_registry();

}  // namespace assay::testing
