// Which node sends which expert state to which (paper section 4.3), and whether every expert still
// has a live holder at all.
#pragma once

#include <optional>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// One expert's state (weights and optimizer moments) from one node to another.
struct ExpertTransfer {
    int from = 0;
    int to = 0;
    int layer = 0;
    int expert = 0;
    bool operator==(const ExpertTransfer&) const = default;
};

struct LostExpert {
    int layer = 0;
    int expert = 0;
    bool operator==(const LostExpert&) const = default;
};

/// The first (layer, expert) that no node holds, or nullopt. `held[layer][node]`: experts of the
/// live nodes; `experts` per layer.
std::optional<LostExpert> first_lost_expert(const ModelPlacement& held, int experts);

/// True when every expert of every layer has a live holder.
bool recoverable(const ModelPlacement& held, int experts);

/// What has to travel so that every node has what `needed` gives it. Both are [layer][node] over
/// the same nodes; a node that only serves (an orderly leaver) needs nothing: an empty list. An
/// expert wanted by several nodes is fetched from all its current holders in turn: each transfer
/// takes the holder with the fewest transfers so far, ties by lower node. A node never fetches what
/// it holds, and fetches an expert once, however many replicas it gets. Sorted by (from, to, layer,
/// expert). Throws UserError when a needed expert has no holder.
std::vector<ExpertTransfer> plan_transfers(const ModelPlacement& held,
                                           const ModelPlacement& needed);

}  // namespace assay::lazarus
