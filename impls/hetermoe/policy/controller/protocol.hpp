// What the controller of a training and its drivers say to each other: settings, events, actions;
// described, so that they travel between processes and are stored with what was decided.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "impls/elastic/protocol.hpp"
#include "impls/hetermoe/policy/controller/layout.hpp"
#include "suite/drive/messages.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/suspicion.hpp"

namespace assay::hetermoe {

using elastic::Epoch;
using elastic::Step;

/// Forward times of one micro-batch, as a profile has them (policy/profile.hpp), or those of
/// forward and backward together: what is decided hangs on their ratios.
struct StageTimes {
    Nanoseconds attention = 1'000'000;   ///< of a layer, on a new GPU
    Nanoseconds old_expert = 1'000'000;  ///< its rows through experts, on an old GPU …
    Nanoseconds new_expert = 800'000;    ///< … and on a new one
    Nanoseconds exchange = 0;            ///< these rows, one way
    Nanoseconds old_attention = 0;       ///< of an old GPU; 0: it has no attention
    bool operator==(const StageTimes&) const = default;
};

struct ControllerSettings {
    int layers = 2;
    int experts = 8;            ///< of a layer
    Group group{2, 2};          ///< wanted; N divides the experts. The first workers are new ones
    int groups = 1;             ///< wanted
    int micro_batches = 2;      ///< R
    int chunks = 0;             ///< moved to new GPUs in each layer (Algorithm 1's chunks) …
    bool squeeze = false;       ///< … or as many as Algorithm 1 says for `times`
    StageTimes times;           ///< decide on groups where those wanted cannot be had
    Step steps = 10;            ///< to commit
    Step checkpoint_every = 0;  ///< 0: never
    int most_retries = 3;       ///< of one step that failed on live workers

    int new_workers() const { return groups * group.attention; }
    int old_workers() const { return groups * group.expert; }
    bool operator==(const ControllerSettings&) const = default;
};

// ---- events ------------------------------------------------------------------------------------
using drive::Died;
using drive::Idle;
using drive::Joined;
using drive::LeaveRequested;
using elastic::CheckpointWritten;
using elastic::Ready;
using elastic::RestoreFailed;
using elastic::StepFailed;
/// The worker has its sums of the step.
struct StepDone {
    Worker worker = -1;
    Epoch epoch = 0;
    Step step = 0;
    bool operator==(const StepDone&) const = default;
};
/// Collectives of the epoch failed though nobody died; `suspect`: -1 where nobody can be named.
struct GroupBroken {
    Epoch epoch = 0;
    Worker suspect = -1;
    bool corrupt = false;  ///< it sent a damaged message; otherwise it is out of reach, or stuck
    std::string why;
    bool operator==(const GroupBroken&) const = default;
};
/// A new kind's or an old kind's times are known better: they decide, where something else is
/// better now, before the next step.
struct Profiled {
    StageTimes times;
    bool operator==(const Profiled&) const = default;
};
/// All workers of one kind work at the pace of their slowest, `factor` times as long as profiled,
/// until they are said to be otherwise slow, or not (1).
struct Slow {
    bool new_kind = false;
    double factor = 1;
    bool operator==(const Slow&) const = default;
};
using Event = std::variant<Joined, Died, LeaveRequested, Ready, StepDone, StepFailed, GroupBroken,
                           CheckpointWritten, RestoreFailed, Profiled, Slow, Idle>;

// ---- actions -----------------------------------------------------------------------------------
using drive::Evict;
using drive::Stop;
using elastic::Abort;
using elastic::Dismiss;
// To the layout's ranks.
using elastic::Commit;
using elastic::Go;
struct Move {
    BlockKey block;
    Worker from = -1, to = -1;
    bool operator==(const Move&) const = default;
};
/// To `members`: build the groups of the layout, take over what the layout gives you. Who was not a
/// member of the epoch before holds nothing, whatever it once held.
struct Reconfigure {
    Epoch epoch = 0;
    Layout layout;
    std::vector<Worker> members;       ///< the layout's ranks, then others who give up states
    std::vector<Move> moves;           ///< whoever has a block already keeps it
    std::optional<Step> restore_step;  ///< everything from this checkpoint (0: initial values)
    Step resume_step = 0;
    std::string why;  ///< "start", "death of 1", "join of 4", "leave of 2", "step 5 failed on
                      ///< worker 2: …", …
    bool operator==(const Reconfigure&) const = default;
};
inline const std::vector<Worker>& ranks_of(const Reconfigure& plan) { return plan.layout.ranks; }
/// To the layout's ranks after the commit before `step`, before anything else: each writes the
/// blocks of which it is the first holder.
struct WriteCheckpoint {
    Step step = 0;
    std::vector<Worker> writers;
    bool operator==(const WriteCheckpoint&) const = default;
};
using Action = std::variant<Reconfigure, Go, Commit, WriteCheckpoint, Abort, Evict, Dismiss, Stop>;

/// What trained a committed step: enough to replay it with nobody killed.
struct CommittedStep {
    Step step = 0;
    Epoch epoch = 0;
    Layout layout;
    bool operator==(const CommittedStep&) const = default;
};

ASSAY_ROW(Group, attention, expert)
ASSAY_FIELDS(Layout, group, groups, micro_batches, offload, ranks)
ASSAY_FIELDS(StageTimes, attention, old_expert, new_expert, exchange, old_attention)
ASSAY_FIELDS(ControllerSettings, layers, experts, group, groups, micro_batches, chunks, squeeze,
             times, steps, checkpoint_every, most_retries)

ASSAY_MESSAGE(StepDone, "step_done", worker, epoch, step)
ASSAY_MESSAGE(GroupBroken, "group_broken", epoch, suspect, corrupt, why)
ASSAY_MESSAGE(Profiled, "profiled", times)
ASSAY_MESSAGE(Slow, "slow", new_kind, factor)

ASSAY_ROW(Move, block, from, to)
ASSAY_MESSAGE(Reconfigure, "reconfigure", epoch, layout, members, moves, restore_step, resume_step,
              why)
ASSAY_MESSAGE(WriteCheckpoint, "write_checkpoint", step, writers)

}  // namespace assay::hetermoe
