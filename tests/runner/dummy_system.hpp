// A system of small experiments that do, in a sample's process, everything a sample can do:
// succeed, throw, crash, hang, detach children, write nonsense.
#pragma once

#include "suite/experiment/system.hpp"

namespace assay::testing {

/// "dummy/sum": exact, axes n and kind, variants a, b, c; "dummy/behave": measured, axis `how`.
System make_dummy_system();

Registry make_dummy_registry();

}  // namespace assay::testing
