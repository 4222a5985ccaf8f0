// Moves the state of blocks (weights and moments) between ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/nn/moe/state.hpp"
#include "suite/cluster/collectives/communicator.hpp"

namespace assay::nn {

struct BlockMove {
    int from = 0, to = 0;  ///< ranks
    BlockKey key;
};

struct TransferReport {
    long blocks_received = 0;
    std::int64_t bytes_received = 0;
};

/// Carries out `moves`, the same list on every rank, in any order, in one all-to-all, and a small
/// one for their seals: MoeState::corrupted_block() finds what was damaged before or on the way.
/// What is sent stays; what is received is added. Collective, unless there are no moves. Throws
/// cluster::CommunicatorBroken; then blocks not held before may have any content.
TransferReport transfer_blocks(std::vector<BlockMove> moves, cluster::Communicator& comm,
                               MoeState& state);

}  // namespace assay::nn
