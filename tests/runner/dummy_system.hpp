// A system of small experiments that do, in a sample's process, everything a sample can do:
// succeed, throw, crash, hang, detach children, write nonsense or without pause.
#pragma once

#include <chrono>

#include "suite/experiment/system.hpp"

namespace assay::testing {

/// For so long a sample that writes without pause does so.
inline constexpr std::chrono::seconds flood_time{20};

/// "dummy/sum": exact, axes n and kind, variants a, b, c, reads (as far as anyone can tell) the
/// file that ASSAY_TEST_INPUT names; "dummy/behave": measured, axis `how`.
System make_dummy_system();

Registry make_dummy_registry();

}  // namespace assay::testing
