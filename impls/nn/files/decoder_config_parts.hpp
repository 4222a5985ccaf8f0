// The steps of read_decoder_config(), one per source.
#pragma once

#include "impls/nn/files/decoder_config.hpp"

namespace assay::nn {

/// From GGUF metadata; not yet checked against the tensors. Throws UserError.
DecoderConfig config_of_gguf(const TensorFile&);
/// From config.json beside safetensors; not yet checked against the tensors. Throws UserError.
DecoderConfig config_of_hugging_face(const TensorFile&);
/// Throws UserError unless the file holds every parameter of the configuration in its shape, no
/// further layer, and nothing the configuration has no place for (biases in llama).
void check_against_tensors(const TensorFile&, const DecoderConfig&);

}  // namespace assay::nn
