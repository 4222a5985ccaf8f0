// What the controller of a training was told and decided, kept with its sample and replayed:
// `assay replay ID --policy`.
#pragma once

#include <iosfwd>
#include <string_view>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "suite/drive/policy.hpp"
#include "suite/experiment/policy_replay.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

/// Of one training; `clock` where a sample has several: "simulated". An 80-minute spot training of
/// ten workers takes 0.1 MB where a step stands for 50 modelled ones, 0.3 MB (0.6 at most) where it
/// stands for 10.
void store_decisions(Recorder& recorder, const ControllerConfig& config,
                     const std::vector<drive::Decision<Controller>>& decisions,
                     std::string_view clock = "");

/// System::replay_policy.
PolicyReplay replay_controller(std::istream& recording);

}  // namespace assay::lazarus
