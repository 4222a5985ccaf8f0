// LTE's routers, and its feed-forward network: every expert's output is scaled by its score (stage
// 1, Eq. 3), or taken whole where the score passes the threshold (stage 2 and serving, Eq. 2).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/files/ffn_sparsity.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::lte {

/// The routers of all layers: one block per layer with one parameter [N, d], and a bias [N] that is
/// zero and frozen unless `router_bias` is used (ours; the paper's routers have none).
struct RouterOptions {
    int expert_size = kernels::neurons_per_expert;
    double init_scale = 1.0;  ///< weights uniform in ±init_scale/sqrt(d); the paper is silent
    double bias = 0;          ///< initial bias of the logits; 0: no bias parameter at all
    /// Ours: they see what the norm before the network gives before its gain and bias, of unit root
    /// mean square whatever the gain (SmolLM2's is 0.1 to 0.3, and logits with it).
    bool before_gain = false;
    std::uint64_t seed = 1;
};

class Routers {
  public:
    /// Throws UserError when the neurons of a layer are no multiple of the expert size. Routers
    /// before the gain need the other constructor.
    Routers(const nn::DecoderConfig& config, const RouterOptions& options,
            at::Device device = at::kCPU);
    /// For a decoder, on its device, whose norms are looked at again in every forward pass.
    Routers(const nn::Decoder& decoder, const RouterOptions& options);

    /// What they look at, of the input x [tokens, d] of the network: [tokens, d], fp32 or wider.
    at::Tensor seen(int layer, const at::Tensor& x) const;
    /// Sigmoid scores G of what they see. Returns [tokens, N].
    at::Tensor scores_of_seen(int layer, const at::Tensor& seen) const;
    at::Tensor scores(int layer, const at::Tensor& x) const {
        return scores_of_seen(layer, seen(layer, x));
    }
    /// As a decoder computes them, which sees x alone: what before_gain undoes is folded into
    /// weights and biases. tau: of the scores.
    nn::RoutedExperts stored(double tau) const;
    std::vector<std::unique_ptr<nn::ParameterBlock>>& blocks() { return blocks_; }
    const std::vector<std::unique_ptr<nn::ParameterBlock>>& blocks() const { return blocks_; }
    const RouterOptions& options() const { return options_; }

  private:
    struct Norm {
        at::Tensor gain, bias;  ///< leaves of the decoder; an undefined bias is none
    };
    RouterOptions options_;
    std::vector<std::unique_ptr<nn::ParameterBlock>> blocks_;
    std::vector<Norm> norms_;  ///< by layer; empty unless before_gain
};

/// Every expert's neurons times the expert's factor. hidden: [tokens, f]; factors: [tokens, N], f a
/// multiple of N, any type. Returns [tokens, f] in the type of hidden.
at::Tensor scaled_by_expert(const at::Tensor& hidden, const at::Tensor& factors);

enum class LteMode { soft, hard };

class LteFeedForward : public nn::FeedForward {
  public:
    /// keep_detached: see detached_scores().
    LteFeedForward(const Routers& routers, double tau, LteMode mode, bool keep_detached = false)
        : routers_(routers), tau_(tau), mode_(mode), keep_detached_(keep_detached) {}

    /// hard: no gradient passes through the mask or into the router.
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override;

    /// Scores of the last forward pass, by layer, with graph in soft mode: what the regularisers
    /// are computed from. [tokens, N] each.
    const std::vector<at::Tensor>& scores() const { return scores_; }
    /// The same numbers in soft mode, of inputs cut off from the decoder: a loss on them moves the
    /// routers alone. Empty unless kept.
    const std::vector<at::Tensor>& detached_scores() const { return detached_scores_; }

  private:
    const Routers& routers_;
    double tau_;
    LteMode mode_;
    bool keep_detached_;
    std::vector<at::Tensor> scores_, detached_scores_;
};

}  // namespace assay::lte
