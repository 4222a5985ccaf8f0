// Fixed expert parallelism as in DeepSpeed-MoE (arXiv 2201.05596), the paper's rival: nodes in
// groups that hold every expert of each layer once, tokens that stay in their group, and an
// all-to-all padded to equal slices. The counterpart of plan/placement.hpp and
// dispatch/dispatch_plan.hpp.
#pragma once

#include <span>
#include <vector>

#include "impls/lazarus/policy/dispatch/dispatch_plan.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

// ---- who trains and holds what -----------------------------------------------------------------

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

// ---- the padded exchange -----------------------------------------------------------------------

/// The group of each rank. Ranks that hold the same experts hold the same *share*; there are `ep`
/// shares, and the k-th holder (in rank order) of each share is in group k. So any order of the
/// ranks is fine; where shares come one after the other, groups are `ep` consecutive ranks.
/// `holders`: one layer, entry i is rank i. Throws UserError when there are more or fewer than `ep`
/// different shares, or one has more holders than another.
std::vector<int> groups_of(const Placement& holders, int ep);

/// One layer's groups, and who holds what in them.
class ExpertGroups {
  public:
    /// Throws UserError as groups_of() does, and when an expert is held more or less than once in a
    /// group.
    ExpertGroups(const Placement& holders, int experts, int ep);

    int experts() const { return experts_; }
    int ranks() const { return static_cast<int>(group_.size()); }
    int group(int rank) const { return group_[static_cast<std::size_t>(rank)]; }
    /// [group]: its ranks, ascending.
    const std::vector<std::vector<int>>& members() const { return members_; }
    /// The rank that holds `expert` in `group`.
    int holder(int group, int expert) const {
        return holder_[static_cast<std::size_t>(group) * static_cast<std::size_t>(experts_) +
                       static_cast<std::size_t>(expert)];
    }

  private:
    int experts_;
    std::vector<int> group_;  // [ranks]
    std::vector<std::vector<int>> members_;
    std::vector<int> holder_;  // [groups][experts]
};

/// Rows of every (source, expert) slice, [group]: the most tokens that one of them has. Throws
/// UserError on a wrong shape or a negative count.
std::vector<Tokens> slice_rooms(std::span<const Tokens> tokens, const ExpertGroups& groups);

/// Every token goes to the holder of its expert in its own group. Every (source, expert) slice of a
/// group has room for the largest of them, so that no token is dropped: the capacity that
/// DeepSpeed-MoE finds by an all-reduce of the maximum when dropping is off. `tokens`: [experts]
/// [ranks] row-major. Throws UserError on a wrong shape or a negative count. O(experts · ranks²).
void plan_padded_dispatch(std::span<const Tokens> tokens, const ExpertGroups& groups,
                          DispatchPlan& plan);

}  // namespace assay::lazarus
