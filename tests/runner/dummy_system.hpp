// A system of small experiments that do, in a sample's process, everything a sample can do:
// succeed, throw, crash, hang, detach children, write nonsense or without pause.
#pragma once

#include <chrono>

#include "suite/experiment/system.hpp"

namespace assay::testing {

/// For so long a sample that writes without pause does so.
inline constexpr std::chrono::seconds flood_time{20};

/// "dummy/sum": exact, axes n and kind, variants a, b, c, multiplies by the first number
/// in the file that ASSAY_TEST_INPUT names, which must be ASSAY_TEST_INPUT_SHA256 where that is
/// set; "dummy/behave": measured, axis `how`.
System make_dummy_system();

Registry make_dummy_registry();

}  // namespace assay::testing
