// The neurons of a workbench's decoder grouped into experts, in place.
#pragma once

#include "impls/lte/expert_size.hpp"
#include "impls/lte/recipes/workbench.hpp"

namespace assay::lte {

enum class GroupingKind { kmeans, random, coactivation };

/// Reorders the neurons of each layer so that an expert's are neighbours. A function of the decoder
/// and the sample's seed.
void group_neurons(Workbench& bench, GroupingKind kind);

}  // namespace assay::lte
