// Surviving failure sets as exact integers, for clusters of at most 64 nodes: what comparing plans
// needs. Probabilities as floating-point numbers would leave "never worse" to rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Bit n: node n.
using NodeMask = std::uint64_t;

inline constexpr int most_masked_nodes = 64;

/// [k]: number of sets of k failed nodes that lose no expert, k = 0 … nodes. At most C(64, 32),
/// which fits.
using Survivors = std::vector<std::uint64_t>;

/// Nodes that hold each expert. Precondition: at most most_masked_nodes nodes.
std::vector<NodeMask> holder_masks(const Placement& placement, int experts);

/// The inclusion-minimal ones, smallest first, each once.
std::vector<NodeMask> minimal_masks(std::vector<NodeMask> masks);

/// What counting them costs, in unions of two masks or 64 failure sets; a few nanoseconds each.
/// The cheaper of inclusion-exclusion and enumeration.
double counting_work(std::size_t masks, int nodes);

/// Counting beyond this is refused: about 10 ms.
inline constexpr double most_counting_work = 1 << 21;

/// Failure sets that contain none of `minimal`. Nothing where that takes more than
/// most_counting_work.
std::optional<Survivors> exact_survivors(std::span<const NodeMask> minimal, int nodes);

/// At least as many as survive, for every k: exact where that can be counted, otherwise counting
/// only the smallest of the sets that kill.
Survivors survivors_bound(std::span<const NodeMask> minimal, int nodes);

/// a[k] >= b[k] for every k.
bool never_fewer(const Survivors& a, const Survivors& b);

/// Pointwise larger of both.
Survivors larger(const Survivors& a, const Survivors& b);

/// Sum over k of a's shortfall below `wanted`, each as a share of all sets of k nodes, in units of
/// 2^-32: an integer, so that searches that follow it choose alike on every machine. 0 exactly when
/// never_fewer(a, wanted).
std::int64_t shortfall(const Survivors& a, const Survivors& wanted);

/// All sets of k of `nodes` nodes.
const Survivors& binomials(int nodes);

}  // namespace assay::lazarus
