#include "impls/lte/baselines/relu_swap.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

namespace assay::lte {

at::Tensor relu_hidden(const nn::FfnWeights& weights, const at::Tensor& x) {
    const auto up = at::linear(x, weights.up, weights.up_bias);
    return weights.gate.defined() ? at::relu(at::linear(x, weights.gate)) * up : at::relu(up);
}

at::Tensor ReluFeedForward::run(int, const at::Tensor& x, const nn::FfnWeights& weights) {
    return nn::ffn_output(weights, relu_hidden(weights, x));
}

}  // namespace assay::lte
