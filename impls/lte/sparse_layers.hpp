// The feed-forward networks of a model file in expert order, as the decoder takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/decode/engine.hpp"

namespace assay::lte {

/// Neurons in the order of the file, 32 to an expert, weights in bf16, with routers drawn at
/// random: for latency, which depends on how many experts are active and not on which. Throws
/// UserError when the neurons of a layer are no multiple of 32.
std::vector<decode::SparseLayer> sparse_layers(const nn::TensorFile& file,
                                               const nn::DecoderConfig& config, std::uint64_t seed);

}  // namespace assay::lte
