// Nodes with several GPUs: the plan gives replicas to nodes, which are what fails; a node deals its
// own to its GPUs (paper section 5: they "are just distributed among its GPUs").
#pragma once

#include <span>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// `replicas`: of one node and layer, experts repeated per replica. `load`: tokens that one replica
/// of each expert gets, [expert]. Deals them so that GPUs have nearly equal loads: the heaviest
/// first, each to the GPU with the least load that has a free slot, then the most free slots, then
/// the lowest number (Graham's longest processing time, with slots). Returns the experts of each
/// GPU, ascending. No GPU has more than ceil(replicas / gpus) of them. Throws std::invalid_argument
/// unless gpus >= 1 and every expert has a load.
Placement deal_by_load(std::span<const int> replicas, std::span<const double> load, int gpus);

/// The same in order, in equal blocks: fixed expert parallelism, where the GPUs of every group must
/// hold the same shares.
Placement deal_in_blocks(std::span<const int> replicas, int gpus);

}  // namespace assay::lazarus
