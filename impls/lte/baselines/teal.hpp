// TEAL (Liu et al., ICLR 2025): thresholds on what each matrix is multiplied with.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/token_data.hpp"

namespace assay::lte {

/// Magnitude thresholds on the *inputs* of each matrix of the feed-forward network (x before gate
/// and up, h before down): the quantiles that give `sparsity` on calibration text, the same share
/// in every matrix (the paper's uniform variant; its greedy search over shares is not here), set
/// layer after layer on what the thresholds before leave. Sparsity is counted over the weights not
/// read. Not a neuron mask: has an interface of its own.
class Teal : public nn::FeedForward {
  public:
    Teal(const nn::Decoder&, const nn::TokenData&, double sparsity);
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override;
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

}  // namespace assay::lte
