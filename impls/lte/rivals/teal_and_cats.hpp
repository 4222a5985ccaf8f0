// TEAL and CATS: thresholds on activations, set on calibration text; training-free.
#pragma once

#include <memory>
#include <vector>

#include "impls/lte/rivals/rival.hpp"
#include "impls/nn/files/ffn_sparsity.hpp"

namespace assay::lte {

/// t such that round(share · n) of the n values have |value| <= t (more where values are equal to
/// t); −1 where that is none of them.
double magnitude_threshold(const at::Tensor& values, double share);

/// TEAL (Liu et al., ICLR 2025): magnitude thresholds on the *inputs* of each matrix of the
/// feed-forward network (x before gate and up, h before down): the quantiles that give `sparsity`
/// on calibration text, the same share in every matrix (the paper's uniform variant; its greedy
/// search over shares is not here), set layer after layer on what the thresholds before leave.
/// Sparsity is counted over the weights not read. Not a neuron mask: has an interface of its own.
class Teal : public nn::FeedForward {
  public:
    Teal(const nn::Decoder&, const nn::TokenData&, double sparsity);
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override;
    nn::InputThresholds thresholds() const;
    double measured_sparsity() const;            ///< since construction: weights not read, share
    std::vector<double> layer_sparsity() const;  ///< the same, by layer

  private:
    struct Layer {
        double input_threshold = -1, hidden_threshold = -1;
        double skipped = 0, seen = 0;  ///< weights, summed over tokens
    };
    std::vector<Layer> layers_;
    double sparsity_;
    bool settling_ = true;
};

/// CATS (Lee et al., COLM 2024): neurons whose |silu(gate·x)| (models without a gate: |act|)
/// exceeds a per-layer threshold, the quantile that gives `sparsity` on calibration text. The gate
/// (without one: `up`) is still read whole, so that of the weights 2/3 (1/2) of the sparsity is
/// saved.
class Cats : public SelectingFeedForward {
  public:
    Cats(const nn::Decoder&, const nn::TokenData&, double sparsity);
    nn::GateThresholds thresholds() const;

  protected:
    Choice choose(int layer, const at::Tensor& x, const at::Tensor& hidden,
                  const nn::FfnWeights& weights) override;

  private:
    double sparsity_;
    bool settling_ = false;
    std::vector<double> threshold_;
};

}  // namespace assay::lte
