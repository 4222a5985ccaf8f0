// Splits the neurons of a feed-forward network into experts of equal size (LTE section 3.1 of the
// paper), and reorders the network so that an expert's neurons are neighbours.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace assay::lte {

/// order[e · expert_size + k] = the neuron that is number k of expert e: a permutation of 0 … f−1.
struct Grouping {
    int expert_size = 32;
    std::vector<std::int64_t> order;
    int experts() const { return static_cast<int>(order.size()) / expert_size; }
};

struct KMeansOptions {
    int iterations = 25;
    bool normalise = true;  ///< rows to unit length first, as MoEfication does; the paper is silent
    std::uint64_t seed = 1;
};

/// Balanced k-means over the rows of `features` [f, d] (the gate's rows for SwiGLU, else up's):
/// f / expert_size clusters of exactly expert_size rows. Greedy balanced assignment in order of
/// distance, then pairwise swaps while they shorten the sum of squared distances; stops when
/// nothing changes. Throws UserError when f is no multiple of expert_size.
Grouping balanced_kmeans(const at::Tensor& features, int expert_size, const KMeansOptions& = {});

Grouping random_grouping(int neurons, int expert_size, std::uint64_t seed);

/// Greedy growth on the co-activation graph, refined by swaps that raise the weight inside groups:
/// weight(i, j) = number of tokens on which both are among the `share` most active neurons.
/// hidden: [tokens, f] activations.
Grouping coactivation_grouping(const at::Tensor& hidden, int expert_size, double share,
                               std::uint64_t seed);

/// Sum of squared distances of the rows to their expert's mean: what k-means minimises.
double within_distance(const at::Tensor& features, const Grouping&);

}  // namespace assay::lte
