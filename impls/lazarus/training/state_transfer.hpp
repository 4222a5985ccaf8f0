// Moves the state of experts (weights and moments) between workers at a reconfiguration
// (paper 4.3).
#pragma once

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "impls/nn/moe/transfer.hpp"

namespace assay::lazarus {

/// Carries out the transfers of `plan` (experts, and the dense state for joiners) over
/// plan.members, as nn::transfer_blocks().
nn::TransferReport transfer_state(const Reconfigure& plan, cluster::Communicator& comm,
                                  Trainer& trainer);

}  // namespace assay::lazarus
