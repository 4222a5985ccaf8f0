// Where the replicas go: maximum rank overlap as published (paper section 4.1), and the two
// placements the paper compares with (section 6.3).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

std::string_view to_string(PlacementPolicy policy);  ///< "mro", "spread", "compact", "mro_guarded"
std::optional<PlacementPolicy> parse_placement_policy(std::string_view);  ///< the inverse

/// Places `replicas` on `nodes` nodes with `slots` slots each.
///   mro:     maximum rank overlap. Experts in ascending order of replicas (then load, then index)
///   form
///            groups of `slots`; each group gets its own nodes, as many as its coldest member has
///            replicas, and each of those nodes holds the whole group; with a single group the
///            experts nest instead: expert e on the first min(r_e, nodes) nodes. The leftover
///            replicas fill the vacancies, hottest expert first: a node that does not hold the
///            expert yet, then the emptiest, then the lowest (the paper says "uniformly").
///   spread:  round-robin over the nodes in index order of the experts, one running cursor.
///   compact: nodes filled one after the other in index order of the experts.
///   mro_guarded: mro where it is optimal, repaired where it is not (guarded_placement.hpp).
/// `loads` only breaks ties of mro and mro_guarded; it may be empty.
/// Throws UserError when replicas are below 1, do not sum to nodes · slots, or shapes are wrong.
Placement place(PlacementPolicy policy, const Replicas& replicas, int nodes, int slots,
                std::span<const Tokens> loads = {});

/// Maximum rank overlap with smaller groups that share nodes: the first `whole` groups are mro's,
/// the experts after them form blocks of `block`. A block takes as many nodes as its coldest member
/// has replicas, from the node after the last block's and around, skipping those without room. With
/// more experts than slots, `block` = `slots` is mro itself; `block` = 1 is a cyclic placement.
/// Throws UserError as place() does, and unless 0 <= whole and 1 <= block <= slots.
Placement place_blocks(const Replicas& replicas, int nodes, int slots, int whole, int block,
                       std::span<const Tokens> loads = {});

/// Number of nodes of each MRO group, in node order. Their sum may be less than `nodes`: the nodes
/// after the last group hold leftover replicas only. A single group (experts <= slots) is one
/// entry: the replicas of the coldest expert.
std::vector<int> mro_group_nodes(const Replicas& replicas, int nodes, int slots);

/// True when the last MRO group gets fewer nodes than its coldest expert has replicas. Theorem 1 of
/// the paper, optimality of MRO, does not hold then.
bool mro_truncated(const Replicas& replicas, int nodes, int slots);

}  // namespace assay::lazarus
