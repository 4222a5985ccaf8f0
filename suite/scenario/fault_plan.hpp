// Fault plans: what goes wrong when. From flags (`kill:rank=1@step=5`) and TOML files.
//
// Files: datasets/scenarios/*.toml, [[fault]] tables with the same keys.
// Grammar of one fault:  KIND:key=value,…@step=N|t=SECONDS[,for=SECONDS]
// Grammar of a plan's canonical text: faults separated by ';' or new lines.
// Keys before the '@': rank, role, instance (who); count (join); phase; factor, by (slow); peer,
// latency, bandwidth, loss, cut (link); target (corrupt). After it: step or t; for (hang, slow,
// link, disk_full).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/event_kinds.hpp"

namespace assay {

/// kill: SIGKILL. hang: SIGSTOP, SIGCONT after `for` (without `for`: never). stop: an orderly leave
/// (preemption notice): the worker finishes its step and departs. join: a new worker appears.
/// slow: the worker takes `factor` times as long. link: messages between `rank` and `peer` (absent:
/// everybody) are delayed, throttled, lost and sent again, or cut off. corrupt: one bit flips in
/// the next message `rank` sends, or in a tensor of its state. nan: one activation of `rank`
/// becomes NaN. torn: the next part of a checkpoint that `rank` writes is cut short and reported as
/// whole. disk_full: its writes fail for lack of space. wipe: an engine's cache of prefixes is
/// empty. gpu_error: the context of its GPU is lost, as by an Xid: its next use of the device
/// fails, and its process can do nothing more. slow, link and disk_full last for `for`, without it
/// to the end (disk_full: one checkpoint).
enum class FaultKind {
    kill,
    hang,
    stop,
    join,
    slow,
    link,
    corrupt,
    nan,
    torn,
    disk_full,
    wipe,
    gpu_error
};
ASSAY_NAMES(FaultKind, kill, hang, stop, join, slow, link, corrupt, nan, torn, disk_full, wipe,
            gpu_error)

struct Fault {
    FaultKind kind = FaultKind::kill;
    /// Who: the worker's first rank; it keeps this name however ranks are renumbered. join: the
    /// name of the newcomer is the next free one, rank is absent and `count` says how many (default
    /// 1).
    std::optional<int> rank;
    int count = 1;
    /// Where workers have roles: `rank` is the number among those of this role. join: its role.
    std::string role;
    std::string instance;       ///< in place of a rank: who lives under that name; join: its name
    std::optional<long> step;   ///< fires when the target reaches this step (0-based) …
    std::optional<double> t_s;  ///< … or at this time after the start of training
    /// kill, hang: where inside, "step" or a phase that the system declares; "" means step.
    /// corrupt: "", or a phase with messages that can be struck.
    std::string phase;
    std::optional<double> for_s;  ///< hang, slow, link, disk_full

    double factor = 1;  ///< slow: above 1
    std::string by;     ///< slow: "quota" or "duty_cycle": so and not otherwise; "": as it can
    std::optional<int> peer;  ///< link: the other end, by name; absent: every other worker
    double latency_s = 0;     ///< link: added to every message
    double bandwidth = 0;     ///< link: bytes per second; 0: unlimited
    double loss = 0;          ///< link: share of messages lost and sent again, below 1
    bool cut = false;         ///< link: nothing passes
    std::string target;       ///< corrupt: "message" or "tensor"
    bool operator==(const Fault&) const = default;
};

std::string to_string(const Fault&);

struct FaultPlan {
    std::vector<Fault> faults;
    bool operator==(const FaultPlan&) const = default;
    bool empty() const { return faults.empty(); }
};

std::string to_string(const FaultPlan&);  ///< canonical text; parse_fault_plan() reads it back

class ScenarioError : public UserError {
    using UserError::UserError;  ///< with file:line:column, or the flag and the position in it
};

// `phases`: what the system declares (System::fault_phases); without them only "step" is one.

Fault parse_fault(std::string_view text, const FaultPhases& phases = {});  ///< or ScenarioError
FaultPlan parse_fault_plan(std::string_view text, const FaultPhases& phases = {});  ///< canonical
/// TOML: [[fault]] kind="kill" rank=1 step=5 …
FaultPlan read_scenario(std::string_view toml, std::string_view file_name,
                        const FaultPhases& phases = {});
FaultPlan read_scenario(const std::filesystem::path& file, const FaultPhases& phases = {});

/// What cannot work with `workers` initial workers: a rank that never exists (joins counted) or
/// does not exist yet, everyone gone at some step, contradictory faults for one rank (two
/// departures; anything after one; two hangs, slows, disk_fulls, or links of one pair, that
/// overlap), a fault without step and time, a key that the kind does not take or a value out of its
/// range. A hang without `for` is a departure, and so is a cut without it: one of its ends will be
/// evicted. Joins are lazy: at an equal step they come after departures. Faults keyed by step and
/// faults keyed by time cannot be ordered against each other, so those pairs pass. Throws
/// ScenarioError.
void validate(const FaultPlan& plan, int workers, const FaultPhases& phases = {});

/// For trainings, which have neither a cache of prefixes nor a GPU: throws ScenarioError where a
/// fault is a wipe or a gpu_error.
void refuse_faults_of_engines(const FaultPlan& plan);

/// A seeded random plan of recoverable and unrecoverable faults, for campaigns: equal on every
/// platform for equal seeds, keyed by step, valid for `workers`. At least one worker stays that
/// was neither taken away nor hung nor corrupted; when nobody is left to hit, the plan is shorter
/// than `faults`. Kills in one of `phases` fall on a step at which another worker departs, so that
/// the phase comes; where nothing is left to do in it, such a kill does not fire.
struct RandomFaults {
    int workers = 4;
    long steps = 12;
    int faults = 2;
    bool joins = true;
    bool hangs = true;
    bool network = false;  ///< slow workers and bad links too, for 0.05 to 0.5 s each
    bool data = false;     ///< corrupt, nan, torn and disk_full too
};
FaultPlan random_fault_plan(const RandomFaults& shape, std::uint64_t seed,
                            const FaultPhases& phases = {});

}  // namespace assay
