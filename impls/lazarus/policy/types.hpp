// Vocabulary of the Lazarus policy: replica counts, plans, loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::lazarus {

using Tokens = std::int64_t;

/// The place of a rank, an expert or a layer in a vector of them.
constexpr std::size_t nth(int number) { return static_cast<std::size_t>(number); }

/// Tokens routed to each expert over the observation window; one entry per expert.
using Loads = std::vector<Tokens>;

/// Replicas of each expert, in input order.
using Replicas = std::vector<int>;

/// One layer's placement: plan node → expert ids in its slots, ascending, repeated per replica.
using Placement = std::vector<std::vector<int>>;

/// Placements of every MoE layer over the same nodes.
using ModelPlacement = std::vector<Placement>;

enum class PlacementPolicy { mro, spread, compact, mro_guarded };
ASSAY_NAMES(PlacementPolicy, mro, spread, compact, mro_guarded)

}  // namespace assay::lazarus
