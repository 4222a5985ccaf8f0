// Models whose steps are timed: random weights, so that a shape is enough. Torch-free.
#pragma once

#include <string>

#include "impls/nn/files/decoder_config.hpp"

namespace assay::dr_post_training {

/// "llama-1m" and "llama-9m" (256 wide), on bytes, and the shapes of published models
/// (impls/model/named_models.hpp). Throws UserError for another name.
nn::DecoderConfig timed_model(const std::string& name);

}  // namespace assay::dr_post_training
