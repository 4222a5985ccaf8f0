// The text and the weights that a sample asks for. Torch-free.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::lte {

/// The axes "model" and "corpus", or what stands for them where there are none.
std::string model_of(const SampleSpec& spec);
std::string corpus_of(const SampleSpec& spec);

/// Which of them has not been fetched, or is no file, as a sentence; std::nullopt: all are here.
std::optional<std::string> materials_lack(const SampleSpec& spec);

/// The text and the files of pretrained weights, for Experiment::inputs. Throws UserError like
/// nn::files_of_model().
std::vector<Input> material_inputs(const SampleSpec& spec);

/// A data set or a file of the user's. Throws SampleError (unsupported) where it is not here.
std::filesystem::path fetched(const std::string& name);

}  // namespace assay::lte
