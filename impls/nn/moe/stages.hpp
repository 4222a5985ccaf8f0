// The stages of moe_gpt_loss(), each for itself: what a pipeline calls where and when it wants.
//
//     x = moe_embed(tokens)
//     per layer: routed = moe_attend(x)                      attention and gate
//                outputs = experts of moe_expert_rows(routed)    expert_forward(), anywhere
//                x = moe_combine(routed, outputs)
//     loss = moe_head(x, tokens)
//
// Composed in this order they are the whole, loss and gradients, bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include "impls/nn/moe/gpt.hpp"

namespace assay::nn {

/// What attention and gate of a layer make of `rows` tokens.
struct Routed {
    at::Tensor residual;       ///< [batch, length, width]: the experts' outputs are added to it
    at::Tensor rows;           ///< [rows, width]: what the experts are given
    at::Tensor probabilities;  ///< [rows, experts]
    at::Tensor chosen;         ///< [rows, top_k] int64, without gradient
    at::Tensor kept;           ///< [rows, top_k] bool: not dropped; undefined: all are kept
    at::Tensor weights;        ///< [rows, top_k], of the outputs of those chosen; dropped: 0
};

/// Which choices find room where an expert takes `capacity` of a sequence's: first choices before
/// second ones, earlier tokens before later ones (GShard, arXiv 2006.16668, algorithm 1). chosen:
/// [rows, top_k], sequence by sequence of `length` tokens. Returns [rows, top_k], bool.
at::Tensor with_room(const at::Tensor& chosen, std::int64_t length, int experts,
                     std::int64_t capacity);

/// tokens: [batch, length + 1], int64, as moe_gpt_loss() takes them. Returns [batch, length,
/// width].
at::Tensor moe_embed(const MoeGptConfig& config, const ParameterBlock& dense,
                     const at::Tensor& tokens);

/// x: [batch, length, width]. `chosen`, where it is defined, takes the gate's place in choosing;
/// the weights stay the gate's.
Routed moe_attend(const MoeGptConfig& config, const ParameterBlock& dense, int layer,
                  const at::Tensor& x, const at::Tensor& chosen = {},
                  Attention attention = Attention::written_out);

/// A row for every choice: [rows * top_k, width], in the order of `chosen`.
at::Tensor moe_expert_rows(const MoeGptConfig& config, const Routed& routed);

/// outputs: [rows * top_k, width], of the experts, as moe_expert_rows() has them. Returns [batch,
/// length, width].
at::Tensor moe_combine(const MoeGptConfig& config, const at::Tensor& residual,
                       const at::Tensor& weights, const at::Tensor& outputs);

/// Final norm, output head and loss: as moe_gpt_loss() returns it.
at::Tensor moe_head(const MoeGptConfig& config, const ParameterBlock& dense, const at::Tensor& x,
                    const at::Tensor& tokens);

}  // namespace assay::nn
