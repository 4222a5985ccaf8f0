// Who does what in a training: zebra groups side by side, each of M new GPUs' workers, which have
// attention and everything dense, and N old ones', which have experts.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/hetermoe/policy/profile.hpp"
#include "impls/nn/moe/block_key.hpp"
#include "suite/drive/policy.hpp"

namespace assay::hetermoe {

using Worker = drive::WorkerId;
using nn::BlockKey;

/// Ranks: new ones first, group by group, then old ones, group by group.
struct Layout {
    Group group;
    int groups = 0;
    int micro_batches = 0;      ///< R, of each attention worker
    std::vector<int> offload;   ///< experts of each layer that every expert worker gives up
    std::vector<Worker> ranks;  ///< groups · (M + N) workers
    bool operator==(const Layout&) const = default;

    int layers() const { return static_cast<int>(offload.size()); }
    int attention_ranks() const { return groups * group.attention; }
    bool is_attention(int rank) const { return rank < attention_ranks(); }
    /// The group of a rank, 0 ….
    int group_of(int rank) const;
    /// Of one group, attention first: the place of a rank in here is what homes() calls a GPU.
    std::vector<int> ranks_of(int group_number) const;
    /// -1: it has none.
    int rank_of(Worker worker) const;
};

/// What a rank holds: the dense block on attention ranks, its experts of every layer (homes());
/// dense first.
std::vector<BlockKey> blocks_of(const Layout& layout, int experts, int rank);

/// The ranks that hold a block, ascending: one per group for an expert.
std::vector<int> holders_of(const Layout& layout, int experts, const BlockKey& block);

/// Consecutive sequences of a step's global batch.
struct MicroBatch {
    std::int64_t first = 0, sequences = 0;
    bool operator==(const MicroBatch&) const = default;
};

/// Those of an attention rank, R of them. Together the ranks have each of `sequences` once,
/// whatever the groups are; every micro-batch has one at least where there are as many.
std::vector<MicroBatch> micro_batches_of(const Layout& layout, std::int64_t sequences, int rank);

}  // namespace assay::hetermoe
