#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/normal.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>

#include <limits>
#include <numeric>

#include "impls/lte/baselines/strongest.hpp"
#include "impls/lte/baselines/trained_selection.hpp"
#include "impls/lte/method/membership_order.hpp"

namespace assay::lte {
namespace {

constexpr std::size_t gate = 0, noise_scale = 1;  // positions in a block

std::vector<nn::ParameterSpec> router_of(const nn::DecoderConfig& config, int expert_size) {
    check_expert_size(config.hidden, expert_size);
    const std::vector<std::int64_t> shape{config.hidden / expert_size, config.width};
    return {{"gate", shape}, {"noise", shape}};
}

}  // namespace

TopKSoftmax::TopKSoftmax(const nn::DecoderConfig& config, int expert_size, int count, double noise,
                         std::uint64_t seed, at::Device device)
    : TrainedSelection(config, "softmax_router", router_of(config, expert_size), seed, device),
      count_(count),
      noise_(noise),
      top_weight_(static_cast<std::size_t>(config.layers)) {}

SelectingFeedForward::Choice TopKSoftmax::route(int layer, const at::Tensor& x,
                                                const nn::ParameterBlock& router) {
    auto logits = at::linear(x, router[gate].to(x.scalar_type()));
    if (is_training() && noise_ > 0) {
        const auto scale = at::softplus(at::linear(x, router[noise_scale].to(x.scalar_type())));
        const auto drawn = at::normal(0.0, noise_, logits.sizes(), draws(layer));
        logits = logits + drawn.to(logits.options()) * scale;
    }
    const auto used = strongest(logits, count_);
    const auto weight = at::softmax(
        logits.masked_fill(used.logical_not(), -std::numeric_limits<double>::infinity()), 1);
    top_weight_[static_cast<std::size_t>(layer)] =
        weight.detach().amax(1).to(at::kDouble).mean().item<double>();
    return {used, weight};
}

double TopKSoftmax::top_weight() const {
    return std::accumulate(top_weight_.begin(), top_weight_.end(), 0.0) /
           static_cast<double>(top_weight_.size());
}

}  // namespace assay::lte
