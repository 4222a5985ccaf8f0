// What the guard of a training and its driver say to each other: settings, events, actions;
// described, so that they travel between processes and are stored with what was decided.
//
// State is all that a step changes: weights, moments, the draws of batches. State `s` is the one
// before step s; state 0 are the initial values, which every worker can make anew. A digest names a
// state, bit for bit, together with the selections of the step that led to it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "suite/drive/messages.hpp"
#include "suite/drive/policy.hpp"

namespace assay::dr_post_training {

using Step = std::int64_t;
using drive::WorkerId;

struct GuardSettings {
    Step steps = 10;            ///< to apply
    Step checkpoint_every = 0;  ///< steps; 0: never
    int generations = 2;        ///< of checkpoints that are kept
    int attempts = 2;         ///< at computing a step before its numbers are given up as not finite
    int most_recoveries = 8;  ///< restarts and restores in a row that brought no new step
    double patience_s = 30;   ///< that a worker may take over one order
    bool operator==(const GuardSettings&) const = default;
};

// ---- events ------------------------------------------------------------------------------------
using drive::Died;
using drive::Joined;
using drive::Timer;
/// The worker's state is the one asked for.
struct Restored {
    WorkerId worker = -1;
    Step step = 0;
    std::string digest;
    bool operator==(const Restored&) const = default;
};
/// The checkpoint is torn, missing or does not have its own digest.
struct RestoreFailed {
    WorkerId worker = -1;
    Step step = 0;
    std::string why;
    bool operator==(const RestoreFailed&) const = default;
};
/// Gradients, selections and loss of the step are there; nothing has been applied.
struct Computed {
    WorkerId worker = -1;
    Step step = 0;
    bool finite = true;  ///< all of them
    bool operator==(const Computed&) const = default;
};
/// The state is now the one before step + 1.
struct Applied {
    WorkerId worker = -1;
    Step step = 0;
    std::string digest;
    bool operator==(const Applied&) const = default;
};
/// Its state is not the one that the order names; nothing was done.
struct StateDamaged {
    WorkerId worker = -1;
    Step step = 0;
    std::string why;
    bool operator==(const StateDamaged&) const = default;
};
/// It is durable under its name.
struct CheckpointWritten {
    WorkerId worker = -1;
    Step step = 0;
    bool operator==(const CheckpointWritten&) const = default;
};
/// It could not be written (disk full); those before are as they were.
struct CheckpointFailed {
    WorkerId worker = -1;
    Step step = 0;
    std::string why;
    bool operator==(const CheckpointFailed&) const = default;
};
using GuardEvent = std::variant<Joined, Died, Timer, Restored, RestoreFailed, Computed, Applied,
                                StateDamaged, CheckpointWritten, CheckpointFailed>;

// ---- actions -----------------------------------------------------------------------------------
using drive::Evict;
using drive::StartTimer;
using drive::Stop;
/// Start a worker; its Joined follows, or its Died.
struct Spawn {
    bool operator==(const Spawn&) const = default;
};
/// Take the state of this checkpoint (0: initial values). Answer: Restored or RestoreFailed.
struct Restore {
    WorkerId worker = -1;
    Step step = 0;
    bool operator==(const Restore&) const = default;
};
/// Compute the step from the state `digest`, change nothing. Answer: Computed or StateDamaged.
struct Compute {
    WorkerId worker = -1;
    Step step = 0;
    std::string digest;
    bool operator==(const Compute&) const = default;
};
/// The same once more: what came out was not finite.
struct Redo {
    WorkerId worker = -1;
    Step step = 0;
    std::string digest;
    bool operator==(const Redo&) const = default;
};
/// Apply what was computed to the state `digest`. Answer: Applied or StateDamaged.
struct Apply {
    WorkerId worker = -1;
    Step step = 0;
    std::string digest;
    bool operator==(const Apply&) const = default;
};
/// To the driver: what the worker said of this step counts; comes once for every step.
struct StoreStep {
    Step step = 0;
    std::string digest;
    bool operator==(const StoreStep&) const = default;
};
/// The state before `step`, which is `digest`. Answer: CheckpointWritten, CheckpointFailed or
/// StateDamaged.
struct WriteCheckpoint {
    WorkerId worker = -1;
    Step step = 0;
    std::string digest;
    bool operator==(const WriteCheckpoint&) const = default;
};
/// To the driver: this checkpoint is of no use any more.
struct DropCheckpoint {
    Step step = 0;
    bool operator==(const DropCheckpoint&) const = default;
};
/// To the driver: record an event. `kind`: "redo", "restore", "restart", "checkpoint_failed",
/// "failed".
struct Note {
    std::string kind;
    Step step = 0;
    std::string why;
    bool operator==(const Note&) const = default;
};
using GuardAction = std::variant<Spawn, Restore, Compute, Redo, Apply, StoreStep, WriteCheckpoint,
                                 DropCheckpoint, Note, StartTimer, Evict, Stop>;

ASSAY_FIELDS(GuardSettings, steps, checkpoint_every, generations, attempts, most_recoveries,
             patience_s)
ASSAY_MESSAGE(Restored, "restored", worker, step, digest)
ASSAY_MESSAGE(RestoreFailed, "restore_failed", worker, step, why)
ASSAY_MESSAGE(Computed, "computed", worker, step, finite)
ASSAY_MESSAGE(Applied, "applied", worker, step, digest)
ASSAY_MESSAGE(StateDamaged, "state_damaged", worker, step, why)
ASSAY_MESSAGE(CheckpointWritten, "checkpoint_written", worker, step)
ASSAY_MESSAGE(CheckpointFailed, "checkpoint_failed", worker, step, why)
ASSAY_MESSAGE(Spawn, "spawn")
ASSAY_MESSAGE(Restore, "restore", worker, step)
ASSAY_MESSAGE(Compute, "compute", worker, step, digest)
ASSAY_MESSAGE(Redo, "redo", worker, step, digest)
ASSAY_MESSAGE(Apply, "apply", worker, step, digest)
ASSAY_MESSAGE(StoreStep, "store_step", step, digest)
ASSAY_MESSAGE(WriteCheckpoint, "write_checkpoint", worker, step, digest)
ASSAY_MESSAGE(DropCheckpoint, "drop_checkpoint", step)
ASSAY_MESSAGE(Note, "note", kind, step, why)

}  // namespace assay::dr_post_training
