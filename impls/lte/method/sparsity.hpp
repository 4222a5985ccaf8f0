// What a mask of active experts amounts to: shares by layer, by token, by batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace assay::lte {

/// Counts over many forward passes. Sparsity = share of inactive experts (neurons).
class SparsityStatistics {
  public:
    /// keep_masks: for union_sparsity(); a byte per token, layer and expert (neuron).
    explicit SparsityStatistics(int layers, bool keep_masks = false);
    /// active: bool [tokens, N] (or [tokens, f]).
    void add(int layer, const at::Tensor& active);

    double mean() const;  ///< over tokens and layers: the paper's "FFN sparsity"
    std::vector<double> by_layer() const;
    /// Spread of per-token sparsity (standard deviation over tokens, averaged over layers): how
    /// adaptive the number of experts is.
    double token_spread() const;
    /// Mean share of experts that no token of a batch of `batch` tokens activates (Fig. 15): tokens
    /// are taken at random (seeded) from those added, as requests of different users would be.
    /// std::logic_error without the masks.
    double union_sparsity(int batch, std::uint64_t seed) const;

  private:
    struct Layer {
        double inactive = 0, all = 0;
        double tokens = 0, shares = 0, squares = 0;  ///< active share of a token, summed
        std::vector<at::Tensor> masks;               ///< bool [tokens, N], where they are kept
    };
    std::vector<Layer> layers_;
    bool keep_masks_;
};

/// What a batch activates over what it would if experts were independent and equally often active,
/// 1 − alone^batch; `together` and `alone` are the shares that none of its tokens, and a single
/// one, activates. 1 where nothing is ever active. That a union grows by less per token the larger
/// it is follows from drawing tokens at random, and that the ratio is below 1 from experts being
/// used unequally, however little.
double union_over_independent(double together, double alone, int batch);

/// Counts of scores in `bins` equal bins of [0, 1], as shares (Fig. 3).
std::vector<double> score_histogram(const std::vector<at::Tensor>& scores, int bins);
/// Share of scores within `distance` of tau.
double near_threshold(const std::vector<at::Tensor>& scores, double tau, double distance);

}  // namespace assay::lte
