// LTE's routers, and its feed-forward network: every expert's output is scaled by its score (stage
// 1, Eq. 3), or taken whole where the score passes the threshold (stage 2 and serving, Eq. 2).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::lte {

/// The routers of all layers: one block per layer with one parameter [N, d], and a bias [N] that is
/// zero and frozen unless `router_bias` is used (ours; the paper's routers have none).
struct RouterOptions {
    int expert_size = kernels::neurons_per_expert;
    double init_scale = 1.0;  ///< weights uniform in ±init_scale/sqrt(d); the paper is silent
    double bias = 0;          ///< initial bias of the logits; 0: no bias parameter at all
    std::uint64_t seed = 1;
};

class Routers {
  public:
    /// Throws UserError when the neurons of a layer are no multiple of the expert size.
    Routers(const nn::DecoderConfig& config, const RouterOptions& options,
            at::Device device = at::kCPU);
    /// Sigmoid scores G(x). x: [tokens, d]. Returns [tokens, N], fp32 or wider.
    at::Tensor scores(int layer, const at::Tensor& x) const;
    std::vector<std::unique_ptr<nn::ParameterBlock>>& blocks() { return blocks_; }
    const std::vector<std::unique_ptr<nn::ParameterBlock>>& blocks() const { return blocks_; }
    const RouterOptions& options() const { return options_; }

  private:
    RouterOptions options_;
    std::vector<std::unique_ptr<nn::ParameterBlock>> blocks_;
};

/// Every expert's neurons times the expert's factor. hidden: [tokens, f]; factors: [tokens, N], f a
/// multiple of N, any type. Returns [tokens, f] in the type of hidden.
at::Tensor scaled_by_expert(const at::Tensor& hidden, const at::Tensor& factors);

enum class LteMode { soft, hard };

class LteFeedForward : public nn::FeedForward {
  public:
    LteFeedForward(const Routers& routers, double tau, LteMode mode)
        : routers_(routers), tau_(tau), mode_(mode) {}

    /// hard: no gradient passes through the mask or into the router.
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override;

    /// Scores of the last forward pass, by layer, with graph in soft mode: what the regularisers
    /// are computed from. [tokens, N] each.
    const std::vector<at::Tensor>& scores() const { return scores_; }

  private:
    const Routers& routers_;
    double tau_;
    LteMode mode_;
    std::vector<at::Tensor> scores_;
};

}  // namespace assay::lte
