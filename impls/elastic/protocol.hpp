// What a controller and the members of a training say to each other, whose members come and go. The
// training is in epochs: of each, a plan of who holds what, and groups of its own. A step is
// computed by all, then committed by all, or not at all.
//
//     controller                                   member
//     Reconfigure (each system's own)          →   builds its groups, takes over its states
//                                              ←   Ready, or RestoreFailed
//     Go                                       →   computes the step
//                                              ←   StepDone (each system's own), or StepFailed
//     Commit                                   →   applies it
//     WriteCheckpoint (each system's own)      →   writes its part
//                                              ←   CheckpointWritten, or CheckpointFailed
//     Abort (urgent)                           →   leaves whatever it does together with others
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "impls/nn/moe/block_key.hpp"
#include "suite/drive/any_message.hpp"
#include "suite/drive/describe.hpp"
#include "suite/drive/policy.hpp"

namespace assay::elastic {

using drive::WorkerId;
using Epoch = std::int64_t;  ///< plans, counted: each has groups of its own
using Step = std::int64_t;

// ---- from a member -----------------------------------------------------------------------------
/// Its groups are built, its states are there.
struct Ready {
    WorkerId worker = -1;
    Epoch epoch = 0;
    bool operator==(const Ready&) const = default;
};
/// Its loss or its sums are not finite, or its state has changed: the step must not be applied.
struct StepFailed {
    WorkerId worker = -1;
    Epoch epoch = 0;
    Step step = 0;
    std::string why;
    bool operator==(const StepFailed&) const = default;
};
/// Its state is not what it was, so that it does not what it was told (Manner::outlives_damage).
struct StateDamaged {
    WorkerId worker = -1;
    Epoch epoch = 0;
    Step step = 0;  ///< that the state is before, or would have been
    std::string why;
    bool operator==(const StateDamaged&) const = default;
};
/// Its part of the checkpoint before `step` is durable.
struct CheckpointWritten {
    WorkerId worker = -1;
    Step step = 0;
    bool operator==(const CheckpointWritten&) const = default;
};
/// Its part of the checkpoint could not be written: a loss of safety, not of training.
struct CheckpointFailed {
    WorkerId worker = -1;
    Step step = 0;
    std::string why;
    bool operator==(const CheckpointFailed&) const = default;
};
/// The checkpoint that a plan asked for is torn or missing: an older one has to do.
struct RestoreFailed {
    WorkerId worker = -1;
    Epoch epoch = 0;
    Step step = 0;
    std::string why;
    bool operator==(const RestoreFailed&) const = default;
};

/// Of the state that it holds, once training is over: the answer to {"type": "finish"}.
struct Digests {
    std::map<nn::BlockKey, std::uint64_t> digests;
    bool operator==(const Digests&) const = default;
};

// ---- to the members ----------------------------------------------------------------------------
/// Drop what the plan does not give you, then compute `step`.
struct Go {
    Epoch epoch = 0;
    Step step = 0;
    bool operator==(const Go&) const = default;
};
/// Apply the optimizer for `step`.
struct Commit {
    Epoch epoch = 0;
    Step step = 0;
    bool operator==(const Commit&) const = default;
};
/// Urgent, to the surviving members of the epoch: its groups are broken; stop. A Commit or a Go
/// that was sent before still counts.
struct Abort {
    Epoch epoch = 0;
    WorkerId dead = -1;  ///< -1: no death, the epoch failed
    bool operator==(const Abort&) const = default;
};
/// It may go, in order: at once, or after what it was sent before.
using drive::Dismiss;

/// Who computes the steps of a plan, in rank order. A system whose Reconfigure has members that do
/// not has an overload of its own.
template <class Reconfigure>
const std::vector<WorkerId>& ranks_of(const Reconfigure& plan) {
    return plan.members;
}

/// Who writes a checkpoint. A system whose order does not list them has an overload of its own.
template <class Order>
requires requires(const Order& order) { order.writers; }
const std::vector<WorkerId>& writers_of(const Order& order,
                                        const std::vector<WorkerId>& /*ranks*/) {
    return order.writers;
}

ASSAY_MESSAGE(Ready, "ready", worker, epoch)
ASSAY_MESSAGE(StepFailed, "step_failed", worker, epoch, step, why)
ASSAY_MESSAGE(StateDamaged, "state_damaged", worker, epoch, step, why)
ASSAY_MESSAGE(CheckpointWritten, "checkpoint_written", worker, step)
ASSAY_MESSAGE(CheckpointFailed, "checkpoint_failed", worker, step, why)
ASSAY_MESSAGE(RestoreFailed, "restore_failed", worker, epoch, step, why)
ASSAY_MESSAGE(Digests, "digests", digests)
ASSAY_MESSAGE(Go, "go", epoch, step)
ASSAY_MESSAGE(Commit, "commit", epoch, step)
ASSAY_MESSAGE(Abort, "abort", epoch, dead)
ASSAY_URGENT(Abort)

}  // namespace assay::elastic
