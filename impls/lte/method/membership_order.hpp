// From the group of each neuron to the order of neurons.
#pragma once

#include "impls/lte/method/affinity_swaps.hpp"
#include "impls/lte/method/grouping.hpp"

namespace assay::lte {

/// Neurons ascending within an expert, experts by their first neuron: equal partitions give equal
/// groupings.
Grouping grouping_of(const Membership&, int expert_size);

/// Throws UserError unless `neurons` is a positive multiple of `expert_size`.
void check_expert_size(std::int64_t neurons, int expert_size);

}  // namespace assay::lte
