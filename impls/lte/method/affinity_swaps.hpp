// Partitions of items into groups of equal size, improved by exchanging pairs: what balanced
// k-means (inner products) and co-activation grouping (counts) have in common.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace assay::lte {

/// The group of each item, 0 … groups − 1.
using Membership = std::vector<std::int64_t>;

/// Row c: the sum of the rows of the members of group c. rows: [n, k]. Returns [groups, k].
at::Tensor group_sums(const at::Tensor& rows, const Membership&, int groups);

/// Exchanges two items of different groups as long as some exchange raises the affinity summed over
/// the pairs inside groups, first the best partner of item 0, then of item 1, …; at most
/// `most_passes` times over all items. affinity: float [n, n], symmetric, on the CPU, contiguous;
/// its diagonal does not matter. Returns the number of exchanges.
std::int64_t refine_by_swaps(const at::Tensor& affinity, Membership&, int groups, int most_passes);

}  // namespace assay::lte
