// Experts chosen without a trained router: MoEfication's by an oracle, after a ReLU swap, and at
// random.
#pragma once

#include <cstdint>
#include <memory>

#include "impls/lte/rivals/rival.hpp"

namespace assay::lte {

/// With ReLU instead of the model's activation: with a gate relu(x·gateᵀ) ∘ (x·upᵀ), else
/// relu(x·upᵀ + up_bias). x: [tokens, d]. Returns [tokens, f].
at::Tensor relu_hidden(const nn::FfnWeights&, const at::Tensor& x);

/// The whole network with relu_hidden: what is fine-tuned after the swap.
class ReluFeedForward : public nn::FeedForward {
  public:
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override;
};

/// MoEfication with ground-truth selection, as the paper runs it (favourable to it): per token the
/// `count` experts (of `expert_size` neighbouring neurons) with the largest sum of |h|. With one
/// neuron per expert it is the oracle bound of Deja Vu. `hidden`: relu_hidden after a ReLU swap.
std::unique_ptr<SelectingFeedForward> expert_oracle(int layers, int expert_size, int count,
                                                    HiddenFunction hidden = nn::ffn_hidden);

/// Experts ranked by a fixed random linear router, top `count` (Fig. 12's control).
std::unique_ptr<SelectingFeedForward> random_router(const nn::DecoderConfig&, int expert_size,
                                                    int count, std::uint64_t seed,
                                                    at::Device device = at::kCPU);

}  // namespace assay::lte
