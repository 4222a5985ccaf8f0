// What trainings across processes need of the build and of the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::tensors {

/// Why nothing can be computed on tensors across processes: this build lacks libtorch or Gloo, or
/// the module with them is not here. std::nullopt: it can.
std::optional<std::string> processes_lack();

/// Why no live training can run, as a sentence that says what to do: this build lacks libtorch or
/// Gloo, the module with them is not here, or there is no text to train on. std::nullopt: they can.
std::optional<std::string> live_training_lacks();

/// The text that live trainings train on. Throws SampleError (unsupported) with the reason where
/// none can run.
std::filesystem::path live_training_text();

/// The same for Experiment::inputs; empty where it has not been fetched.
std::vector<Input> live_training_inputs();

}  // namespace assay::tensors
