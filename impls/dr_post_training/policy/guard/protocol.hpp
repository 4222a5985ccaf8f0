// What the guard of a training and its driver say to each other: a training with one member
// (impls/elastic/protocol.hpp), and what that adds; described, so that it travels between processes
// and is stored with what was decided.
//
// State is all that a step changes: weights, moments, the draws of batches. State `s` is the one
// before step s; state 0 are the initial values, which every worker can make anew. A digest names a
// state, bit for bit, together with the selections of the step that led to it. The worker remembers
// the one that it said last, and does nothing with a state that has another: StateDamaged.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "impls/elastic/protocol.hpp"
#include "suite/drive/messages.hpp"
#include "suite/drive/policy.hpp"

namespace assay::dr_post_training {

using drive::WorkerId;
using elastic::Epoch;
using elastic::Step;

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
using elastic::CheckpointFailed;
using elastic::CheckpointWritten;
using elastic::RestoreFailed;
using elastic::StateDamaged;
using elastic::StepFailed;
/// The worker's state is the one asked for.
struct Ready {
    WorkerId worker = -1;
    Epoch epoch = 0;
    std::string digest;
    bool operator==(const Ready&) const = default;
};
/// Gradients, selections and loss of the step are there, and finite; nothing has been applied.
struct StepDone {
    WorkerId worker = -1;
    Epoch epoch = 0;
    Step step = 0;
    bool operator==(const StepDone&) const = default;
};
/// The state is now the one before step + 1.
struct Applied {
    WorkerId worker = -1;
    Step step = 0;
    std::string digest;
    bool operator==(const Applied&) const = default;
};
using GuardEvent = std::variant<Joined, Died, Timer, Ready, RestoreFailed, StepDone, StepFailed,
                                Applied, StateDamaged, CheckpointWritten, CheckpointFailed>;

// ---- actions -----------------------------------------------------------------------------------
using drive::Evict;
using drive::Spawn;
using drive::StartTimer;
using drive::Stop;
// To the worker of the epoch. Answer: StepDone or StepFailed; Applied; or StateDamaged.
using elastic::Commit;
using elastic::Go;
/// To the worker: take the state of this checkpoint. Answer: Ready or RestoreFailed.
struct Reconfigure {
    Epoch epoch = 0;
    std::vector<WorkerId> members;     ///< the worker
    std::optional<Step> restore_step;  ///< there always is one; 0: initial values
    Step resume_step = 0;
    bool operator==(const Reconfigure&) const = default;
};
/// To the worker, which has the state before `step`. Answer: CheckpointWritten, CheckpointFailed or
/// StateDamaged.
struct WriteCheckpoint {
    Step step = 0;
    bool operator==(const WriteCheckpoint&) const = default;
};
inline const std::vector<WorkerId>& writers_of(const WriteCheckpoint&,
                                               const std::vector<WorkerId>& ranks) {
    return ranks;
}
/// To the driver: what the worker said of this step counts; comes once for every step.
struct StoreStep {
    Step step = 0;
    std::string digest;
    bool operator==(const StoreStep&) const = default;
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
using GuardAction = std::variant<Spawn, Reconfigure, Go, Commit, StoreStep, WriteCheckpoint,
                                 DropCheckpoint, Note, StartTimer, Evict, Stop>;

ASSAY_FIELDS(GuardSettings, steps, checkpoint_every, generations, attempts, most_recoveries,
             patience_s)
ASSAY_MESSAGE(Ready, "ready", worker, epoch, digest)
ASSAY_MESSAGE(StepDone, "step_done", worker, epoch, step)
ASSAY_MESSAGE(Applied, "applied", worker, step, digest)
ASSAY_MESSAGE(Reconfigure, "reconfigure", epoch, members, restore_step, resume_step)
ASSAY_MESSAGE(WriteCheckpoint, "write_checkpoint", step)
ASSAY_MESSAGE(StoreStep, "store_step", step, digest)
ASSAY_MESSAGE(DropCheckpoint, "drop_checkpoint", step)
ASSAY_MESSAGE(Note, "note", kind, step, why)

}  // namespace assay::dr_post_training
