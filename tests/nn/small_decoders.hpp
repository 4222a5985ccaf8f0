// Decoders small enough for finite differences, of every shape we have.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include "impls/nn/decoder.hpp"

namespace assay::nn {

inline DecoderConfig small_llama() {
    DecoderConfig config;
    config.layers = 2;
    config.width = 12;
    config.hidden = 10;
    config.heads = 4;
    config.kv_heads = 2;
    config.head_width = 6;  // heads · head_width is not the width
    config.vocabulary = 11;
    config.context = 8;
    return config;
}

inline DecoderConfig small_qwen3() {
    auto config = small_llama();
    config.query_key_norms = true;
    return config;
}

inline DecoderConfig small_qwen2() {
    auto config = small_llama();
    config.query_key_value_biases = true;
    return config;
}

inline DecoderConfig small_gpt2() {
    auto config = small_llama();
    config.family = Family::gpt2;
    config.activation = Activation::gelu;
    config.kv_heads = 4;
    config.head_width = 3;
    return config;
}

inline at::Tensor random_ids(std::int64_t batch, std::int64_t length, int vocabulary,
                             std::uint64_t seed = 1) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    return at::randint(vocabulary, {batch, length}, generator,
                       at::TensorOptions().dtype(at::kLong));
}

/// Initial matrices are small; larger ones bring every path of the network to life.
inline void enlarge(Decoder& decoder) {
    at::NoGradGuard no_grad;
    auto generator = at::make_generator<at::CPUGeneratorImpl>(7);
    for (auto& block : decoder.blocks())
        block->values().add_(at::normal(0.0, 0.3, block->values().sizes(), generator));
}

inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace assay::nn
