#include "impls/lte/method/lte_feed_forward.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

namespace assay::lte {

at::Tensor scaled_by_expert(const at::Tensor& hidden, const at::Tensor& factors) {
    const auto by_expert = hidden.view({factors.size(0), factors.size(1), -1});
    return (by_expert * factors.to(hidden.scalar_type()).unsqueeze(-1)).view(hidden.sizes());
}

at::Tensor LteFeedForward::run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) {
    scores_.resize(routers_.blocks().size());
    auto& scores = scores_[static_cast<std::size_t>(layer)];
    const auto hidden = nn::ffn_hidden(weights, x);
    if (mode_ == LteMode::soft) {
        scores = routers_.scores(layer, x);
        return nn::ffn_output(weights, scaled_by_expert(hidden, scores));
    }
    {
        at::NoGradGuard no_grad;
        scores = routers_.scores(layer, x);
    }
    return nn::ffn_output(weights, scaled_by_expert(hidden, scores > tau_));
}

}  // namespace assay::lte
