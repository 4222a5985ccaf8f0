// Rivals that choose neurons or experts at run time without LTE's routers. Each is a feed-forward
// network over an unchanged (or fine-tuned) decoder; each reports which neurons it used through
// `active()` so that sparsity is measured, never assumed.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/token_data.hpp"

namespace assay::lte {

class SelectingFeedForward : public nn::FeedForward {
  public:
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) final;
    /// What each layer used in the last forward pass: bool [tokens, f].
    const std::vector<at::Tensor>& active() const { return active_; }

  protected:
    explicit SelectingFeedForward(int layers) : active_(static_cast<std::size_t>(layers)) {}
    /// Multiplier of the hidden activations [tokens, f] (0/1, or a weight as top-k softmax has it).
    virtual at::Tensor choose(int layer, const at::Tensor& x, const at::Tensor& hidden,
                              const nn::FfnWeights& weights) = 0;

  private:
    std::vector<at::Tensor> active_;
};

/// MoEfication with ground-truth selection, as the paper runs it (favourable to it): per token the
/// `count` experts (32 contiguous neurons) with the largest sum of |h|. With one neuron per expert
/// it is the oracle bound of Deja Vu.
std::unique_ptr<SelectingFeedForward> expert_oracle(int layers, int expert_size, int count);

/// Experts ranked by a fixed random linear router, top `count` (Fig. 12's control).
std::unique_ptr<SelectingFeedForward> random_router(const nn::DecoderConfig&, int expert_size,
                                                    int count, std::uint64_t seed);

/// Noisy top-k softmax gating (Shazeer et al.), trained with the model: outputs weighted by their
/// gate (Fig. 2's failure). `routers()` gives the blocks to train along.
class TopKSoftmax : public SelectingFeedForward {
  public:
    TopKSoftmax(const nn::DecoderConfig&, int expert_size, int count, double noise,
                std::uint64_t seed);
    std::vector<nn::ParameterBlock*> routers();
    /// Mean of the largest gate weight over tokens of the last pass: 1 when one expert takes all.
    double top_weight() const;
    void training(bool on);  ///< noise only while training

  protected:
    at::Tensor choose(int, const at::Tensor&, const at::Tensor&, const nn::FfnWeights&) override;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

/// Deja-Vu-style predictors: per layer a two-matrix network d → rank → f, trained to predict which
/// neurons are among the `keep` share with the largest |h|; at run time the top `keep` share of its
/// outputs is computed. Fitted on hidden states of training text, the decoder frozen.
struct DejaVuOptions {
    int rank = 64;
    int steps = 200;
    double learning_rate = 1e-3;
    int sequences = 8;
    std::uint64_t seed = 1;
};
std::unique_ptr<SelectingFeedForward> deja_vu(const nn::Decoder&, const nn::TokenData&, double keep,
                                              const DejaVuOptions&);

/// CATS: neurons whose |silu(gate·x)| (GELU models: |act|) exceeds a per-layer threshold, the
/// quantile that gives `sparsity` on calibration text.
std::unique_ptr<SelectingFeedForward> cats(const nn::Decoder&, const nn::TokenData&,
                                           double sparsity);

/// TEAL: magnitude thresholds on the *inputs* of each matrix of the feed-forward network (x before
/// gate and up, h before down), the quantiles that give `sparsity` on calibration text. Sparsity is
/// counted over the weights not read. Not a neuron mask: has an interface of its own.
class Teal : public nn::FeedForward {
  public:
    Teal(const nn::Decoder&, const nn::TokenData&, double sparsity);
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override;
    double measured_sparsity() const;  ///< since construction: weights not read, share

  private:
    std::vector<double> input_threshold_, hidden_threshold_;
    double skipped_ = 0, seen_ = 0;
};

}  // namespace assay::lte
