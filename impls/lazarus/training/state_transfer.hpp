// Moves the state of experts (weights and moments) between workers at a reconfiguration
// (paper 4.3).
#pragma once

#include <cstdint>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/training/trainer.hpp"

namespace assay::lazarus {

struct TransferReport {
    long blocks_received = 0;
    std::int64_t bytes_received = 0;
};

/// Carries out the transfers of `plan` (experts, and the dense state for joiners) in one all-to-all
/// over plan.members, and a small one for their seals: Trainer::corrupted_block() finds what was
/// damaged before or on the way. What is sent stays; what is received is added. Collective. Throws
/// cluster::CommunicatorBroken; then blocks not held before may have any content.
TransferReport transfer_state(const Reconfigure& plan, cluster::Communicator& comm,
                              Trainer& trainer);

}  // namespace assay::lazarus
