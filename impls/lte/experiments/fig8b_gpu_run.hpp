// Fig. 8, right, on a GPU: LLaMA2-7B's shape. In the module of tensors.
#pragma once

#include <optional>
#include <string>

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {

/// Why nothing decodes on a GPU here, or nullopt.
std::optional<std::string> gpu_decoding_lacks();
/// A whole sample. Throws SampleError (unsupported) with what gpu_decoding_lacks() says.
void run_fig8b_on_gpu(const SampleSpec& spec, Recorder& recorder);

}  // namespace assay::lte
