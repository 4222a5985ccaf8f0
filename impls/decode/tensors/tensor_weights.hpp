// A model's weights as tensors on a device, in the layouts of kernels/assay_kernels.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "kernels/assay_kernels.h"

namespace assay::decode {

struct TensorLayer {
    at::Tensor attention_norm, ffn_norm;  ///< [d], fp32
    at::Tensor query_key_value;           ///< [(heads + 2·kv_heads)·hw, d], one behind the other
    at::Tensor attention_out;             ///< [d, heads·hw]
    at::Tensor gate, up;                  ///< [f, d], neurons in the order of their experts
    at::Tensor down;                      ///< [f, d]: row j is what neuron j adds
    at::Tensor router;                    ///< [N, d]; undefined: the model has none
};

struct TensorWeights {
    nn::DecoderConfig config;
    at::ScalarType type = at::kBFloat16;  ///< of the matrices: kFloat, kHalf or kBFloat16
    at::Tensor embedding;                 ///< [vocabulary, d]
    at::Tensor output;                    ///< [vocabulary, d]; the embedding where these are tied
    at::Tensor final_norm;                ///< [d], fp32
    std::vector<TensorLayer> layers;

    at::Device device() const { return embedding.device(); }
    int experts() const;  ///< of kernels::neurons_per_expert, in each layer
};

/// How the kernels call what matrices are kept in. Throws UserError for a type that does not
/// decode.
AssayType kernel_type(at::ScalarType type);

/// Random weights with routers, for latency alone: a million (kernels::random_weight_pattern),
/// repeated on the device, matrix after matrix; norms 1. LLaMA2-7B's take 13.5
/// GB in 16-bit types and about a second. Throws UserError: the model is not of LLaMA's family, or
/// its neurons are no multiple of 32.
TensorWeights random_tensor_weights(const nn::DecoderConfig& config, at::ScalarType type,
                                    at::Device device, std::uint64_t seed);

/// A model's file, neurons in its order, without routers. Throws UserError as above.
TensorWeights tensor_weights_of(const nn::TensorFile& file, const nn::DecoderConfig& config,
                                at::ScalarType type, at::Device device);

}  // namespace assay::decode
