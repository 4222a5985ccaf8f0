#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/sigmoid.h>

#include <cmath>

#include "impls/lte/baselines/strongest.hpp"
#include "impls/lte/baselines/trained_selection.hpp"
#include "impls/lte/method/membership_order.hpp"

namespace assay::lte {
namespace {

constexpr std::size_t selector = 0;  // position in a block

std::vector<nn::ParameterSpec> router_of(const nn::DecoderConfig& config, int expert_size) {
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

SigmaMoe::SigmaMoe(const nn::DecoderConfig& config, int expert_size, int count,
                   const SigmaMoeOptions& options, at::Device device)
    : TrainedSelection(config, "sigma_router", router_of(config, expert_size), options.seed,
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
