#include "impls/nn/decoder_layers.hpp"

#include <ATen/ATen.h>

#include <stdexcept>

namespace assay::nn {

RotaryTable rotary_table(std::int64_t length, std::int64_t head_width, double base,
                         const at::TensorOptions& options) {
    const auto in_double = options.dtype(at::kDouble);
    const auto exponents = at::arange(0, head_width, 2, in_double) / -head_width;
    const auto angles = at::outer(at::arange(length, in_double), at::pow(base, exponents));
    return {angles.cos().to(options), angles.sin().to(options)};
}

at::Tensor rotate(const at::Tensor& x, const RotaryTable& table) {
    const auto half = x.size(-1) / 2;
    const auto parts = x.to(table.cosine.scalar_type()).split(half, -1);
    const auto cosine = table.cosine.unsqueeze(1), sine = table.sine.unsqueeze(1);
    return at::cat({parts[0] * cosine - parts[1] * sine, parts[1] * cosine + parts[0] * sine}, -1);
}

at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value) {
    const auto q = query.transpose(1, 2), k = key.transpose(1, 2), v = value.transpose(1, 2);
    const bool grouped = query.size(2) != key.size(2);
    at::Tensor mixed;
    if (query.is_cpu()) {
        mixed = at::scaled_dot_product_attention(q, k, v, {}, 0.0, /*is_causal=*/true, {}, grouped);
    } else {
        // The fused kernels of other devices add up in no fixed order when going backward.
        mixed = std::get<0>(at::_scaled_dot_product_attention_math(
            q, k, v, {}, 0.0, /*is_causal=*/true, {}, {}, grouped));
    }
    return mixed.transpose(1, 2).reshape(
        {query.size(0) * query.size(1), query.size(2) * query.size(3)});
}

at::Tensor ffn_hidden(const FfnWeights& weights, const at::Tensor& x) {
    const auto up = at::linear(x, weights.up, weights.up_bias);
    switch (weights.activation) {
        case Activation::swiglu:
            return at::silu(at::linear(x, weights.gate)) * up;
        case Activation::gelu:
            return at::gelu(up, "tanh");
        case Activation::relu:
            return at::relu(up);
    }
    throw std::logic_error("unknown activation");
}

at::Tensor ffn_output(const FfnWeights& weights, const at::Tensor& hidden) {
    return at::linear(hidden, weights.down, weights.down_bias);
}

at::Tensor DenseFeedForward::run(int, const at::Tensor& x, const FfnWeights& weights) {
    return ffn_output(weights, ffn_hidden(weights, x));
}

}  // namespace assay::nn
