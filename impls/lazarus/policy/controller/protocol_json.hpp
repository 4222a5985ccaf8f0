// The protocol's types described (suite/drive/describe.hpp): as JSON they travel between processes
// and are stored with what a controller decided.
#pragma once

#include "impls/lazarus/policy/controller/protocol.hpp"
#include "suite/drive/messages.hpp"

namespace assay::lazarus {

ASSAY_NAMES(Layout, flexible, groups, flexible_joint, eplb)
ASSAY_NAMES(Recovery, peers, restart)
ASSAY_FIELDS(ControllerConfig, layers, experts, slots, min_replicas, placement, steps,
             rebalance_every, checkpoint_every, initial_workers, join_wait_s, layout, group,
             recovery, wait_for_nodes, most_retries, checkpoint_wait_s, surplus_waits)

// ---- events ------------------------------------------------------------------------------------
ASSAY_MESSAGE(StepDone, "step_done", worker, epoch, step, loads)
ASSAY_NAMES(GroupBroken::Cause, corrupt_message, unreachable)
ASSAY_MESSAGE(GroupBroken, "group_broken", epoch, suspect, cause, why)

// ---- actions -----------------------------------------------------------------------------------
ASSAY_ROW(Transfer, layer, expert, from, to)
ASSAY_MESSAGE(Reconfigure, "reconfigure", epoch, members, training, holders, transfers, need_dense,
              dense_sources, restore_step, resume_step, why)
ASSAY_MESSAGE(WriteCheckpoint, "write_checkpoint", step, owners, dense_owner)

}  // namespace assay::lazarus
