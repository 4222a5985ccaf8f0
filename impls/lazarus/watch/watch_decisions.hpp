// The protocol's rules over a recording: no workers, no driver, only what a controller was told and
// what it did about it.
#pragma once

#include <string>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "suite/drive/policy.hpp"

namespace assay::lazarus {

/// Tells a controller of `job` and a watch of the recorded events. Returns what is wrong, as
/// ProtocolWatch::failures() does, and first of all where the controller decides otherwise than was
/// recorded; empty: nothing. A recording may end before the controller stops.
std::vector<std::string> watch_decisions(const ControllerConfig& job,
                                         const std::vector<drive::Decision<Controller>>& recorded);

}  // namespace assay::lazarus
