// Which physical node takes which plan node when the plan changes (paper section 4.3): greedily,
// the pair that needs the fewest new experts first, so that little state has to travel.
#pragma once

#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Plan node of each physical node: a permutation of 0 … nodes-1.
using NodeMapping = std::vector<int>;

/// Maps one layer. `held[p]`: experts that physical node p holds now (nothing for a node that just
/// joined; order and repetition do not matter); `plan`: the new placement. Cost of a pair = number
/// of distinct experts of the plan node that the physical node does not hold; repeatedly the
/// cheapest pair is mapped, ties by lower physical, then lower plan node. Throws UserError when the
/// two differ in size or an expert id is negative.
NodeMapping map_nodes(const Placement& held, const Placement& plan);

/// Maps whole nodes: the cost of a pair is summed over the layers and every layer gets one and the
/// same mapping, which keeps plan nodes aligned across layers (groups that fail together stay
/// together). `held[layer][p]`, `plan[layer][q]`.
NodeMapping map_nodes_jointly(const ModelPlacement& held, const ModelPlacement& plan);

/// The plan seen by physical nodes: result[p] = plan[mapping[p]].
Placement apply_mapping(Placement plan, const NodeMapping& mapping);

/// Each layer mapped on its own (the paper plans per layer). Returns the holders by physical node,
/// result[layer][p].
ModelPlacement map_layers(const ModelPlacement& held, ModelPlacement plan);

/// One mapping for all layers; otherwise like map_layers().
ModelPlacement map_layers_jointly(const ModelPlacement& held, ModelPlacement plan);

}  // namespace assay::lazarus
