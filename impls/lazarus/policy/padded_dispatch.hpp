// Fixed expert parallelism as in DeepSpeed-MoE (arXiv 2201.05596): the ranks form groups that hold
// every expert once, tokens stay in their group, and the all-to-all is padded to equal slices. The
// counterpart of the flexible dispatcher in dispatch.hpp.
#pragma once

#include <span>
#include <vector>

#include "impls/lazarus/policy/dispatch.hpp"

namespace assay::lazarus {

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
    /// The rank that holds `expert` in `group`.
    int holder(int group, int expert) const {
        return holder_[static_cast<std::size_t>(group) * static_cast<std::size_t>(experts_) +
                       static_cast<std::size_t>(expert)];
    }

  private:
    int experts_;
    std::vector<int> group_;   // [ranks]
    std::vector<int> holder_;  // [groups][experts]
};

/// Every token goes to the holder of its expert in its own group. Every (source, expert) slice of a
/// group has room for the largest of them, so that no token is dropped: the capacity that
/// DeepSpeed-MoE finds by an all-reduce of the maximum when dropping is off. `tokens`: [experts]
/// [ranks] row-major. Throws UserError on a wrong shape or a negative count. O(experts · ranks²).
void plan_padded_dispatch(std::span<const Tokens> tokens, const ExpertGroups& groups,
                          DispatchPlan& plan);

}  // namespace assay::lazarus
