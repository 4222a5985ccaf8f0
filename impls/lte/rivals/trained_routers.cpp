#include "impls/lte/rivals/trained_routers.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/normal.h>
#include <ATen/ops/promote_types.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "impls/lte/method/grouping.hpp"
#include "impls/lte/rivals/rival.hpp"
#include "impls/nn/hashes.hpp"

namespace assay::lte {
namespace {

constexpr std::size_t gate = 0, noise_scale = 1;  // positions in a block of TopKSoftmax

std::vector<nn::ParameterSpec> softmax_router(const nn::DecoderConfig& config, int expert_size) {
    check_expert_size(config.hidden, expert_size);
    const std::vector<std::int64_t> shape{config.hidden / expert_size, config.width};
    return {{"gate", shape}, {"noise", shape}};
}

constexpr std::size_t selector = 0;  // position in a block of SigmaMoe

std::vector<nn::ParameterSpec> sigma_router(const nn::DecoderConfig& config, int expert_size) {
    check_expert_size(config.hidden, expert_size);
    // The paper's scale of a pre-norm network of that depth.
    const double scale = std::sqrt(2.0 / (static_cast<double>(config.width) * config.layers));
    return {{"selector", {config.hidden / expert_size, config.width}, scale}};
}

// Rows of equal norm, the spread of all values as before.
void equalise_rows(const at::Tensor& weight) {
    const at::NoGradGuard no_grad;
    const auto values = weight.detach();
    const auto spread = values.std();
    values.div_(values.norm(2, 1, true));
    values.mul_(spread / values.std());
}

}  // namespace

TrainedSelection::TrainedSelection(const nn::DecoderConfig& config, const char* name,
                                   const std::vector<nn::ParameterSpec>& specs, std::uint64_t seed,
                                   at::Device device)
    : SelectingFeedForward(config.layers), seed_(seed) {
    for (int layer = 0; layer < config.layers; ++layer)
        routers_.push_back(std::make_unique<nn::ParameterBlock>(name + std::to_string(layer), specs,
                                                                at::kFloat, seed, device));
}

std::vector<nn::ParameterBlock*> TrainedSelection::routers() {
    std::vector<nn::ParameterBlock*> blocks;
    for (auto& block : routers_) blocks.push_back(block.get());
    return blocks;
}

nn::TrainedAlong TrainedSelection::along() {
    return {routers(), [this](std::int64_t step) { step_ = step; }, {}};
}

SelectingFeedForward::Choice TrainedSelection::choose(int layer, const at::Tensor& x,
                                                      const at::Tensor&, const nn::FfnWeights&) {
    // As with LTE's routers, which expert is chosen must not hang on bf16.
    const auto wide = x.to(at::promote_types(x.scalar_type(), at::kFloat));
    return route(layer, wide, *routers_[static_cast<std::size_t>(layer)]);
}

at::Generator TrainedSelection::draws(int layer) const {
    const auto of_step =
        nn::counter_hash(nn::counter_hash(seed_) + static_cast<std::uint64_t>(step_));
    return at::make_generator<at::CPUGeneratorImpl>(
        nn::counter_hash(of_step + static_cast<std::uint64_t>(layer)));
}

TopKSoftmax::TopKSoftmax(const nn::DecoderConfig& config, int expert_size, int count, double noise,
                         std::uint64_t seed, at::Device device)
    : TrainedSelection(config, "softmax_router", softmax_router(config, expert_size), seed, device),
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

SigmaMoe::SigmaMoe(const nn::DecoderConfig& config, int expert_size, int count,
                   const SigmaMoeOptions& options, at::Device device)
    : TrainedSelection(config, "sigma_router", sigma_router(config, expert_size), options.seed,
                       device),
      count_(count),
      options_(options),
      logits_(static_cast<std::size_t>(config.layers)) {
    for (auto* block : routers()) equalise_rows((*block)[selector]);
}

SelectingFeedForward::Choice SigmaMoe::route(int layer, const at::Tensor& x,
                                             const nn::ParameterBlock& router) {
    const auto logits = at::linear(x, router[selector].to(x.scalar_type()));
    logits_[static_cast<std::size_t>(layer)] = logits;
    auto scores = at::sigmoid(logits);
    if (is_training() && options_.dropout > 0) {
        const auto drawn = at::rand(scores.sizes(), draws(layer));
        scores = scores * (drawn >= options_.dropout).to(scores.options());
    }
    const auto used = strongest(scores, count_);
    return {used, scores * used.to(scores.scalar_type())};
}

at::Tensor SigmaMoe::negative_entropy(const at::Tensor& logits) {
    const auto tokens = static_cast<double>(logits.size(0));
    const auto log_mean = at::logsumexp(at::log_softmax(logits, 1), {0}) - std::log(tokens);
    return (log_mean * log_mean.exp()).sum();
}

nn::TrainedAlong SigmaMoe::along() {
    auto along = TrainedSelection::along();
    along.regulariser = [this] { return regulariser(); };
    return along;
}

at::Tensor SigmaMoe::regulariser() const {
    auto sum = negative_entropy(logits_.front());
    for (std::size_t layer = 1; layer < logits_.size(); ++layer)
        sum = sum + negative_entropy(logits_[layer]);
    return options_.regularisation * sum;
}

}  // namespace assay::lte
