// Fixed expert parallelism as in DeepSpeed-MoE: nodes in groups of `group` consecutive ranks, every
// group holding each expert of each layer once. Pure functions.
#pragma once

#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Nodes out of `nodes` that can train: the largest multiple of `group`.
int nodes_in_whole_groups(int nodes, int group);

/// Gives every node its share of the experts: the share k of `group` is experts
/// [k·E/group, (k+1)·E/group) of every layer, and each group of consecutive nodes has every share
/// once. Within its group a node keeps the share it holds where it can; nodes without state take
/// the rest in order, so that from nothing node i of a group gets share i. `held[layer][node]`:
/// what the nodes hold now. Returns the holders, [layer][node]. Throws std::invalid_argument unless
/// the nodes are a multiple of `group` and `group` divides `experts`.
ModelPlacement place_in_groups(const ModelPlacement& held, int experts, int group);

/// Which nodes to leave out so that `keep` remain: first those that hold nothing, then, one by one,
/// a node whose holdings most others have too; among equals the last. Where every share has a
/// holder and `keep` is at least the number of shares, every share still has one afterwards.
/// Returns indices of nodes, ascending.
std::vector<int> surplus_nodes(const ModelPlacement& held, int keep);

}  // namespace assay::lazarus
