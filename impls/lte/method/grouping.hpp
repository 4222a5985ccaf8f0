// Splits the neurons of a feed-forward network into experts of equal size (LTE section 3.1 of the
// paper), and reorders the network so that an expert's neurons are neighbours.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::lte {

/// order[e · expert_size + k] = the neuron that is number k of expert e: a permutation of 0 … f−1.
struct Grouping {
    int expert_size = kernels::neurons_per_expert;
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

/// weight(i, j) = number of tokens on which both are among the `share` most active neurons, 0 on
/// the diagonal: float [f, f] on the CPU. hidden: [tokens, f] activations. Those of several texts
/// add up.
at::Tensor coactivation_counts(const at::Tensor& hidden, double share);
/// Greedy growth on the co-activation graph, refined by swaps that raise the weight inside groups.
Grouping coactivation_grouping(const at::Tensor& counts, int expert_size, std::uint64_t seed);

/// Sum of squared distances of the rows to their expert's mean: what k-means minimises.
double within_distance(const at::Tensor& features, const Grouping&);

/// Reorders the neurons of a layer (gate, up, up_bias rows; down columns) in place, values and
/// optimizer moments alike; the dense function is unchanged.
void permute_neurons(nn::Decoder&, int layer, const Grouping&);

/// Throws UserError unless `neurons` is a positive multiple of `expert_size`.
void check_expert_size(std::int64_t neurons, int expert_size);

/// A permutation of 0 … n − 1 that is a function of its seed on every platform (Fisher and Yates).
std::vector<std::int64_t> seeded_order(std::int64_t n, std::uint64_t seed);

// Partitions of items into groups of equal size, improved by exchanging pairs: what balanced
// k-means (inner products) and co-activation grouping (counts) have in common.

/// The group of each item, 0 … groups − 1.
using Membership = std::vector<std::int64_t>;

/// Row c: the sum of the rows of the members of group c. rows: [n, k]. Returns [groups, k].
at::Tensor group_sums(const at::Tensor& rows, const Membership&, int groups);

/// Exchanges two items of different groups as long as some exchange raises the affinity summed over
/// the pairs inside groups, first the best partner of item 0, then of item 1, …; at most
/// `most_passes` times over all items. affinity: float [n, n], symmetric, on the CPU, contiguous;
/// its diagonal does not matter. Returns the number of exchanges.
std::int64_t refine_by_swaps(const at::Tensor& affinity, Membership&, int groups, int most_passes);

/// Neurons ascending within an expert, experts by their first neuron: equal partitions give equal
/// groupings.
Grouping grouping_of(const Membership&, int expert_size);

}  // namespace assay::lte
