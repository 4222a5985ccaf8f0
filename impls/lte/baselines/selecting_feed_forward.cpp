#include "impls/lte/baselines/selection.hpp"
#include "impls/lte/method/lte_feed_forward.hpp"

namespace assay::lte {

at::Tensor SelectingFeedForward::run(int layer, const at::Tensor& x,
                                     const nn::FfnWeights& weights) {
    const auto hidden = hidden_(weights, x);
    const auto choice = choose(layer, x, hidden, weights);
    active_[static_cast<std::size_t>(layer)] = choice.used;
    return nn::ffn_output(
        weights, scaled_by_expert(hidden, choice.weight.defined() ? choice.weight : choice.used));
}

}  // namespace assay::lte
