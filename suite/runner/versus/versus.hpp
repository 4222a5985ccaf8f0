// Two builds of the program against each other: paired reruns of the same samples, seconds apart,
// in rounds that end when the verdict stands.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/compare/compare.hpp"
#include "suite/runner/adaptive/contrast.hpp"
#include "suite/runner/runner.hpp"

namespace assay::runner {

/// A build of this program, as it speaks of itself.
struct ProgramIdentity {
    std::string executable;   ///< absolute path
    std::string build;        ///< build id
    nlohmann::json suspects;  ///< as measure::suspects() gives them, with what differs by program
};

/// The running program.
ProgramIdentity this_program();

/// Asks the program with --version; ten seconds at most. Throws UserError: it is not there, cannot
/// be executed, or does not answer as this program does.
ProgramIdentity ask_program(const std::filesystem::path& executable);

/// Reads what --version printed into build id and suspects; the machine's suspects stay empty.
/// Throws UserError, naming `executable`, where there is no build id.
ProgramIdentity parse_version(const std::string& text, const std::string& executable);

/// The experiment that tells how the machine itself fares, where the registry has it.
inline constexpr std::string_view control_experiment = "assay/control";

struct VersusRequest {
    /// Which samples; `rounds` and `until_decided` stay empty. Each variant of each case is a
    /// question of its own.
    Request what;
    ProgramIdentity old_program, new_program;
    /// `against` counts for nothing; `margin` is compare's too, `budget_s` is shared by all, round
    /// by round.
    DecisionOptions decision;
    /// For qualification: the new program's samples are made so many times slower, and marked so.
    double slowdown = 1;
    bool control = true;  ///< run the control workload, with the new program, once per round
    /// Other options of compare(); margin and level are taken from `decision`.
    compare::Options compare;
};

/// Why the rounds of a series ended.
enum class RoundsEnd {
    open,     ///< they did not: interrupted
    decided,  ///< no more rounds would change a verdict
    budget,   ///< the time was used up
    rounds,   ///< as many as there may be
    no_pairs  ///< one of the programs gives no value
};
ASSAY_NAMES(RoundsEnd, (open, "interrupted"), decided, budget, rounds, (no_pairs, "no pairs"))

/// What a row rests on.
struct RowRounds {
    int complete = 0;
    RoundsEnd end = RoundsEnd::open;
};

struct VersusOutcome {
    std::string old_session, new_session;
    std::shared_ptr<const compare::Arm> old_arm, new_arm;  ///< that `rows` points into
    /// compare()'s rows of the deciding metrics. A row is same, faster or slower only when the
    /// adaptive rounds have decided so too: with a level that stands being looked at after every
    /// round. Otherwise it is ambiguous, and its reason says so.
    /// One per metric of a series; ratio and interval are those of the rounds where these decided.
    /// What the budget left undecided has a warning that says so.
    std::vector<compare::Row> rows;
    std::vector<RowRounds> row_rounds;  ///< of the rows, in their order
    std::vector<Contrast> contrasts;
    std::vector<double> control;  ///< the control workload's figure metric, by round; may be empty
    Direction control_better = Direction::none;
    int rounds = 0;             ///< of the series with most
    long saved = 0;             ///< samples that need not be run, of both programs
    double taken_s = 0;         ///< all samples together
    double before_s = 0;        ///< of that, samples that an earlier call had finished (part_of)
    bool budget_ended = false;  ///< the budget ended the rounds of a series
    bool interrupted = false;
};

/// Rounds run old, new, then new, old, and so on; samples of one round have the same seed. What a
/// program does not know or crashes on is a failed sample, and its row says "failed". Stores one
/// session per program; both are resumed where the samples are part of something
/// (Request::part_of), and only there. Throws UserError as make_plan() and execute() do.
/// Notices are those of execute(), with "arm" ("old", "new", "control") in those of samples.
VersusOutcome versus(const Registry&, const VersusRequest&, store::Store&, const Listener&);

// The rows of two builds: compare()'s, held against what the adaptive rounds decided.

/// Keeps the rows of the experiments and metrics that `contrasts` are about, in their order, and
/// those of series that failed altogether. A verdict of compare() that its contrast does not share
/// becomes ambiguous: an interval of one look is too narrow for rounds that were looked at one by
/// one. Rows of two clusters get the verdict of their contrast. Deterministic metrics need no
/// interval and stay as they are. Ratio and interval of a row are those of its rounds, unless
/// compare() alone left it undecided: a row never tells two. There is one row per metric of a
/// series: of several (samples that failed before they had read their data stand apart) the first
/// that has values, which says what the others are.
std::vector<compare::Row> versus_rows(std::vector<compare::Row> rows,
                                      const std::vector<Contrast>& contrasts);

}  // namespace assay::runner
