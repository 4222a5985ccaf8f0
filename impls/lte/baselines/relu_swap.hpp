// ReLU in place of a model's smooth activation: what MoEfication needs (and ReLULLaMA is).
#pragma once

#include <ATen/core/Tensor.h>

#include "impls/nn/decoder.hpp"

namespace assay::lte {

/// Hidden activations of a feed-forward network, as nn::ffn_hidden.
using HiddenFunction = at::Tensor (*)(const nn::FfnWeights&, const at::Tensor& x);

/// With ReLU instead of the model's activation: with a gate relu(x·gateᵀ) ∘ (x·upᵀ), else
/// relu(x·upᵀ + up_bias). x: [tokens, d]. Returns [tokens, f].
at::Tensor relu_hidden(const nn::FfnWeights&, const at::Tensor& x);

/// The whole network with relu_hidden: what is fine-tuned after the swap.
class ReluFeedForward : public nn::FeedForward {
  public:
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override;
};

}  // namespace assay::lte
