// Maximum rank overlap (paper section 4.1): experts whose replicas lie on the same nodes are lost
// by the same few failures, so that most failures lose none.
#pragma once

#include <span>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// As published. Experts in ascending order of replicas (then load, then index) form groups of
/// `slots`; each group gets its own nodes, as many as its coldest member has replicas, and each of
/// those nodes holds the whole group; with a single group the experts nest instead: expert e on the
/// first min(r_e, nodes) nodes. The leftover replicas fill the vacancies, hottest expert first: a
/// node that does not hold the expert yet, then the emptiest, then the lowest (the paper says
/// "uniformly"). Throws UserError as place() does (placement.hpp).
Placement place_mro(const Replicas& replicas, int nodes, int slots,
                    std::span<const Tokens> loads = {});

/// Number of nodes of each MRO group, in node order. Their sum may be less than `nodes`: the nodes
/// after the last group hold leftover replicas only. A single group (experts <= slots) is one
/// entry: the replicas of the coldest expert.
std::vector<int> mro_group_nodes(const Replicas& replicas, int nodes, int slots);

/// True when the last MRO group gets fewer nodes than its coldest expert has replicas. Theorem 1 of
/// the paper, optimality of MRO, does not hold then.
bool mro_truncated(const Replicas& replicas, int nodes, int slots);

/// Ours, for policy/beyond: overlap with smaller groups that share nodes. The first `whole` groups
/// are mro's, the experts after them form blocks of `block`; the last `fillers` experts by id are
/// in no group, they only fill what is left.
struct Blocks {
    int whole = 0;
    int block = 1;
    int fillers = 0;
};

/// A block takes as many nodes as its coldest member has replicas, from the node after the last
/// block's and around, skipping those without room. With more experts than slots, a `block` of
/// `slots` is mro itself, one of 1 a cyclic placement. Throws UserError as place() does, and unless
/// 0 <= whole, 1 <= block <= slots and 0 <= fillers <= experts.
Placement place_blocks(const Replicas& replicas, int nodes, int slots, const Blocks& blocks,
                       std::span<const Tokens> loads = {});

}  // namespace assay::lazarus
