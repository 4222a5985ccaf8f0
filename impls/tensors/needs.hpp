// What computing on tensors needs of the build and of the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::tensors {

/// tensors: the module that holds libtorch. processes: Gloo in it, too. text: both, and the text
/// that live trainings train on.
enum class Needs { tensors, processes, text };

/// Why that is not to be had here, as a sentence that says what to do; std::nullopt: it is. Looks
/// at files only.
std::optional<std::string> lacks(Needs);

/// For Experiment::inputs: the text, where it is needed and has been fetched.
std::vector<Input> inputs_of(Needs);

/// The text that live trainings train on. Throws SampleError (unsupported) with the reason where
/// none can run.
std::filesystem::path training_text();

}  // namespace assay::tensors
