// Causal self-attention with rotary positions and grouped queries.
#pragma once

#include <ATen/core/Tensor.h>

namespace assay::nn {

/// Cosines and sines of position · base^(−2i/head_width): [length, head_width / 2] each.
struct RotaryTable {
    at::Tensor cosine, sine;
};
RotaryTable rotary_table(std::int64_t length, std::int64_t head_width, double base,
                         const at::TensorOptions& options);

/// Rotates the halves of each head against each other, (a, b) → (a·cos − b·sin, b·cos + a·sin), in
/// and to the type of the table (RoFormer, arXiv 2104.09864, with the halves as Hugging Face has
/// them). x: [batch, length, heads, head_width].
at::Tensor rotate(const at::Tensor& x, const RotaryTable& table);

/// query: [batch, length, heads, head_width]; key, value: with a divisor of that number of heads,
/// each shared by neighbouring query heads. Returns [batch · length, heads · head_width]. The order
/// of operations is fixed: equal inputs and thread counts give equal bits.
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value);

}  // namespace assay::nn
