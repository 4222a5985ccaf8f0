#include <ATen/ATen.h>

#include "impls/nn/decoder.hpp"

namespace assay::nn {

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
