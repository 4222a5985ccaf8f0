#include "impls/lte/method/routed_feed_forward.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/promote_types.h>
#include <ATen/ops/sigmoid.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "impls/lte/method/grouping.hpp"
#include "impls/nn/hashes.hpp"

namespace assay::lte {
namespace {

constexpr std::size_t weight = 0, bias = 1;  // positions in a block

void fill_uniform(const at::Tensor& leaf, double bound, std::uint64_t seed) {
    at::NoGradGuard no_grad;
    auto values = at::empty(leaf.sizes(), at::TensorOptions().dtype(at::kFloat));
    auto* out = values.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        const auto draw = nn::counter_hash(seed ^ nn::counter_hash(static_cast<std::uint64_t>(i)));
        const double unit = static_cast<double>(draw >> 11) * 0x1p-53;
        out[i] = static_cast<float>(bound * (2 * unit - 1));
    }
    leaf.copy_(values);
}

}  // namespace

Routers::Routers(const nn::DecoderConfig& config, const RouterOptions& options, at::Device device)
    : options_(options) {
    check_expert_size(config.hidden, options.expert_size);
    const std::int64_t experts = config.hidden / options.expert_size, width = config.width;
    std::vector<nn::ParameterSpec> specs{{"weight", {experts, width}}};
    if (options.bias != 0) specs.push_back({"bias", {experts}, 0, options.bias});
    for (int layer = 0; layer < config.layers; ++layer) {
        blocks_.push_back(std::make_unique<nn::ParameterBlock>(
            "router" + std::to_string(layer), specs, at::kFloat, options.seed, device));
        const auto seed =
            nn::counter_hash(nn::counter_hash(options.seed) + static_cast<std::uint64_t>(layer));
        fill_uniform((*blocks_.back())[weight],
                     options.init_scale / std::sqrt(static_cast<double>(width)), seed);
    }
}

Routers::Routers(const nn::Decoder& decoder, const RouterOptions& options)
    : Routers(decoder.config(), options, decoder.blocks().front()->values().device()) {
    if (!options.before_gain) return;
    const bool with_bias = decoder.config().family == nn::Family::gpt2;
    for (int layer = 0; layer < decoder.config().layers; ++layer) {
        const auto name = "layer" + std::to_string(layer) + "/ffn_norm";
        norms_.push_back({decoder.parameter(name),
                          with_bias ? decoder.parameter(name + "_bias") : at::Tensor()});
    }
}

at::Tensor Routers::seen(int layer, const at::Tensor& x) const {
    const auto index = static_cast<std::size_t>(layer);
    // At least in the routers' own type: on which side of the threshold a score is must not hang on
    // bf16.
    const auto type = at::promote_types(x.scalar_type(), (*blocks_[index])[weight].scalar_type());
    if (!options_.before_gain) return x.to(type);
    // Undone with its gradient, so that the norm's parameters hear nothing of the routers.
    const auto& [gain, shift] = norms_.at(index);
    const auto shifted = shift.defined() ? x.to(type) - shift.to(type) : x.to(type);
    return shifted / gain.to(type).masked_fill(gain == 0, 1);
}

at::Tensor Routers::scores_of_seen(int layer, const at::Tensor& seen) const {
    const auto& block = *blocks_[static_cast<std::size_t>(layer)];
    const auto type = seen.scalar_type();
    return at::sigmoid(at::linear(seen, block[weight].to(type),
                                  options_.bias != 0 ? block[bias].to(type) : at::Tensor()));
}

nn::RoutedExperts Routers::stored(double tau) const {
    constexpr double largest_logit = 1e30;  // of a threshold that nothing or everything passes
    nn::RoutedExperts result{.expert_size = options_.expert_size,
                             .logit_threshold = static_cast<float>(std::clamp(
                                 std::log(tau / (1 - tau)), -largest_logit, largest_logit)),
                             .routers = {}};
    const auto in_double = [](const at::Tensor& leaf) {
        return leaf.detach().to(at::kCPU, at::kDouble);
    };
    const auto floats = [](const at::Tensor& values) {
        const auto flat = values.to(at::kFloat).contiguous();
        const auto* const from = flat.const_data_ptr<float>();
        return std::vector<float>(from, from + flat.numel());
    };
    for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
        const auto& block = *blocks_[layer];
        auto weights = in_double(block[weight]);
        at::Tensor biases = options_.bias != 0 ? in_double(block[bias]) : at::Tensor();
        if (options_.before_gain) {
            const auto& [gain, shift] = norms_[layer];
            const auto divisor = in_double(gain);
            weights = weights / divisor.masked_fill(divisor == 0, 1);
            if (shift.defined()) {
                const auto moved = -at::matmul(weights, in_double(shift));
                biases = biases.defined() ? biases + moved : moved;
            }
        }
        result.routers.push_back(
            {floats(weights), biases.defined() ? floats(biases) : std::vector<float>()});
    }
    return result;
}

at::Tensor scaled_by_expert(const at::Tensor& hidden, const at::Tensor& factors) {
    const auto by_expert = hidden.view({factors.size(0), factors.size(1), -1});
    return (by_expert * factors.to(hidden.scalar_type()).unsqueeze(-1)).view(hidden.sizes());
}

at::Tensor LteFeedForward::run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) {
    scores_.resize(routers_.blocks().size());
    auto& scores = scores_[static_cast<std::size_t>(layer)];
    const auto hidden = nn::ffn_hidden(weights, x);
    if (mode_ == LteMode::soft) {
        const auto seen = routers_.seen(layer, x);
        scores = routers_.scores_of_seen(layer, seen);
        if (keep_detached_) {
            detached_scores_.resize(scores_.size());
            detached_scores_[static_cast<std::size_t>(layer)] =
                routers_.scores_of_seen(layer, seen.detach());
        }
        return nn::ffn_output(weights, scaled_by_expert(hidden, scores));
    }
    {
        at::NoGradGuard no_grad;
        scores = routers_.scores(layer, x);
    }
    return nn::ffn_output(weights, scaled_by_expert(hidden, scores > tau_));
}

}  // namespace assay::lte
