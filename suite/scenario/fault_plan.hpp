// Fault plans: what goes wrong when. From flags (`kill:rank=1@step=5`) and TOML files.
//
// Files: datasets/scenarios/*.toml, [[fault]] tables with the same keys.
// Grammar of one fault:  KIND:key=value,…@step=N|t=SECONDS[,for=SECONDS]
// Grammar of a plan's canonical text: faults separated by ';' or new lines.
// Keys: rank, count (join), phase before the '@'; step or t, for (hang) after it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/error.hpp"

namespace assay {

/// kill: SIGKILL. hang: SIGSTOP, SIGCONT after `for` (without `for`: never). stop: an orderly leave
/// (preemption notice): the worker finishes its step and departs. join: a new worker appears.
enum class FaultKind { kill, hang, stop, join };
std::string_view to_string(FaultKind);

struct Fault {
    FaultKind kind = FaultKind::kill;
    /// Who: the worker's first rank; it keeps this name however ranks are renumbered. join: the
    /// name of the newcomer is the next free one, rank is absent and `count` says how many (default
    /// 1).
    std::optional<int> rank;
    int count = 1;
    std::optional<long> step;   ///< fires when the target reaches this step (0-based) …
    std::optional<double> t_s;  ///< … or at this time after the start of training
    std::string phase;          ///< "", "step", "regroup", "transfer": where inside; "" means step
    std::optional<double> for_s;  ///< hang only
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

Fault parse_fault(std::string_view text);           ///< throws ScenarioError
FaultPlan parse_fault_plan(std::string_view text);  ///< canonical text
/// TOML: [[fault]] kind="kill" rank=1 step=5 …
FaultPlan read_scenario(std::string_view toml, std::string_view file_name);
FaultPlan read_scenario(const std::filesystem::path& file);

/// What cannot work with `workers` initial workers: a rank that never exists (joins counted) or
/// does not exist yet, everyone gone at some step, contradictory faults for one rank (two
/// departures, a hang after one, overlapping hangs), a fault without step and time. A hang without
/// `for` is a departure. Joins are lazy: at an equal step they come after departures. Faults keyed
/// by step and faults keyed by time cannot be ordered against each other, so those pairs pass.
/// Throws ScenarioError.
void validate(const FaultPlan& plan, int workers);

/// A seeded random plan of recoverable and unrecoverable faults, for campaigns: equal on every
/// platform for equal seeds, keyed by step, valid for `workers`. At least one worker stays; when
/// nobody is left to hit, the plan is shorter than `faults`. Kills with phase "regroup" or
/// "transfer" fall on a step at which another worker departs; a transfer phase may still be empty,
/// then such a kill does not fire.
struct RandomFaults {
    int workers = 4;
    long steps = 12;
    int faults = 2;
    bool joins = true;
    bool hangs = true;
};
FaultPlan random_fault_plan(const RandomFaults& shape, std::uint64_t seed);

}  // namespace assay
