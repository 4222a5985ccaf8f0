// One sample of lazarus/x_live; present where libtorch is.
#pragma once

#include <filesystem>

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

/// `spec` has passed the experiment's validate(). Throws SampleError(failed) when the training
/// cannot go on.
void run_x_live(const SampleSpec& spec, const std::filesystem::path& corpus, Recorder& recorder);

}  // namespace assay::lazarus
