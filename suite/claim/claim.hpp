// A statement of a paper as data, and its check against what was obtained. Pure: no database, no
// terminal. The file format is TOML; see datasets/claims/.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/series.hpp"

namespace assay {

enum class ClaimVerdict {
    supported,
    contradicted,
    undecided,   ///< results reach both sides, or not far enough
    calibrated,  ///< holds, but only where a fit determines what was compared
    not_checkable_here,
    not_run,
};
/// Counts up when a verdict may come out otherwise of the same observations and claim.
inline constexpr int claim_rules = 1;
ASSAY_NAMES(ClaimVerdict, supported, contradicted, undecided, calibrated,
            (not_checkable_here, "not checkable here"), (not_run, "not run"))

/// Whose statement it is. ours: what we promise or found. arithmetic: a closed form against values
/// that were printed from it. setting ("32 nodes"): what the paper chose, not what it found; it is
/// never checked. Only `claim` is in the counts of claims.
enum class ClaimKind { claim, setting, ours, arithmetic };
ASSAY_NAMES(ClaimKind, claim, setting, ours, arithmetic)

/// Where a statement was read, of a paper that could not be read whole. digest: several accounts of
/// it agree; one_digest: a single one says so; code, header: its repository, CUDA's headers;
/// inference: worked out of such.
enum class Evidence { abstract, digest, one_digest, code, header, inference };
ASSAY_NAMES(Evidence, abstract, digest, one_digest, code, header, inference)

/// Selects observations: a variant, axis values, metric labels.
struct Selector {
    std::string variant;  ///< empty: any
    Case where;           ///< axis or label → value
};

/// What is compared, and how; see `check` in datasets/claims/README.md.
struct Test {
    std::string
        name;  ///< near, at_least, at_most, greater, increasing, decreasing, order, custom:NAME
    bool clearly = false;   ///< by the interval over seeds
    std::size_t seeds = 3;  ///< that a clearly_ test wants
    std::string along;
    std::vector<std::string> order;  ///< variants, or values of `along`, from largest to smallest
    std::string reduce;              ///< empty, mean, median, max, min, argmax
    Case extreme_at;
    std::vector<Case> except;
    std::map<std::string, std::pair<double, double>> between;
    std::vector<std::string> absent;
    bool absolute = false;
    std::size_t cases = 0;
    std::string equal;  ///< the metric in which both sides are made equal

    bool custom() const { return name.starts_with("custom:"); }
    bool walks() const { return name == "increasing" || name == "decreasing" || name == "order"; }
};

/// Why a claim is contradicted: bound to the value that it explains.
struct Explanation {
    std::string because;
    double obtained = 0;
    double within = 0;  ///< so far from `obtained` it still explains
};

/// What a fit determines: holding is no evidence where one of these observations was used.
struct Fit {
    std::string of;                                   ///< prefix of experiments, "lazarus/fig8/"
    std::vector<std::string> variants;                ///< empty: all
    std::map<std::string, std::vector<Value>> where;  ///< axis or label → any of these
    std::vector<std::string> metrics;                 ///< empty: all
    std::vector<std::string> from;                    ///< the statements that it was fitted to
    std::string because;
};

/// A number of the paper's table of which the claim is the statement.
struct Cell {
    std::string row, column;
    double value = 0;
};

struct Claim {
    std::string id;  ///< "lazarus/fig8/gpt-l/200/mro-4"
    ClaimKind kind = ClaimKind::claim;
    std::string
        experiment;    ///< experiment that checks it; may not exist yet (then "not checkable here")
    std::string says;  ///< in our own words
    std::optional<double> value;
    std::string unit;
    std::optional<double> relative;  ///< tolerance
    std::optional<double> absolute;

    std::string metric;  ///< empty: nothing to check by machine
    Selector of;
    std::optional<Selector> over;  ///< then the checked quantity is the ratio of the two
    Test test;

    std::map<std::string, std::string> checkable;  ///< profile → provenance
    std::vector<std::string> needs;                ///< "trace:smartmoe", "gpu", "weights", …
    using Assumptions = std::map<std::string, std::vector<Value>>;
    Assumptions assumes;  ///< what nobody published: the ends of a range, or words
    /// What else a profile's observations are asked for: see `at` in datasets/claims/README.md.
    struct AtProfile {
        std::string metric;   ///< in place of `metric`; empty: no
        Assumptions assumes;  ///< besides `assumes`
    };
    std::map<std::string, AtProfile> at;  ///< by profile
    std::vector<Fit> fits;                ///< of its file, those of its experiment
    std::optional<Explanation> explained;
    std::string review;         ///< why the verdict is taken back for now
    std::string not_checkable;  ///< a reason that holds at every profile ("needs 16 GPUs …")
    bool headline = false;
    std::vector<Cell> cells;
    std::string source;
    std::optional<Evidence> evidence = {};  ///< absent: read in the source itself
};

class ClaimFileError : public UserError {
    using UserError::UserError;  ///< text starts with "file:line:column: "
};

/// Throws ClaimFileError. Unknown keys are errors. `experiment` defaults to the first two parts of
/// the id; `where` inside `check` applies to both sides; see datasets/claims/README.md for every
/// key.
std::vector<Claim> read_claims(std::string_view toml, std::string_view file_name);
std::vector<Claim> read_claims(const std::filesystem::path& file);

/// One value that some sample obtained.
struct Observation {
    std::string experiment, variant;
    Case axes;
    Profile profile = Profile::toy;
    Provenance provenance = Provenance::exact;
    std::string metric;
    Labels labels;
    double value = 0;
    std::uint64_t seed = 0;
    std::string scenario;  ///< the sample's fault plan, canonical text
    std::string sample;    ///< id in the store
    Origin origin;
    std::string host;  ///< name of its machine, for sentences; may be empty
    std::vector<std::string> fitted_from =
        {};  ///< claims and sessions that its calibration was fitted from
};

/// The seeds behind a value that stands for them, and its 95 % interval where they give one.
struct SeedRange {
    std::size_t seeds = 0;  ///< 0: not counted
    std::optional<double> low, high;
};

/// What a verdict rests on, as data; its reason says it in words.
struct Basis {
    /// Choices of ends of what the claim assumes; without assumptions a single empty one.
    std::vector<Case> holds_at, fails_at, open_at, not_run_at;
    std::string fitted;  ///< where a fit determines it: why holding is no evidence
    SeedRange seeds;     ///< behind `obtained`, in its unit
};

struct ClaimCheck {
    std::string claim;
    ClaimVerdict verdict = ClaimVerdict::not_run;
    std::string reason;  ///< a sentence: what was compared, over how many samples, with what spread
    std::optional<Provenance> provenance;
    std::optional<double> obtained;   ///< at the least favourable point; of walks the worst step
    std::optional<Basis> basis = {};  ///< where results speak for or against it; not stored
};

/// Whether the claim is contradicted and its explanation is of the value that was obtained.
bool is_explained(const Claim&, const ClaimCheck&);

/// A check in a system's code: supported, contradicted, undecided or not run.
using CustomCheck = std::function<ClaimCheck(const Claim&, std::span<const Observation>)>;

/// Whether an input that a claim needs ("trace:smartmoe", "gpu") is on this machine.
using NeedIsHere = std::function<bool(const std::string& need)>;

/// Checks one claim against the observations of its experiment.
///
/// * Observations count only at a (profile, provenance) that `checkable` names; of several, the
///   largest profile that has what the claim asks for. With several seeds or rounds the median
///   counts, or by a clearly_ test the interval over seeds.
/// * Axes and labels that the selectors leave open make several cases: the claim must hold in each,
///   or is of what `reduce` makes of them; `obtained` is the least favourable one.
/// * Each machine is judged on its own, and the least favourable one speaks. On one machine only
///   what comparable_sets() (series.hpp) puts into one set is set against each other or behind one
///   median. Which results of an edited calibration or data set still count, the store decides: see
///   Store::observations().
/// * `assumes`: the observations carry the assumption as an axis or label of that name, and each
///   choice of ends is judged by itself; what follows of all, and of fits, is in
///   datasets/claims/README.md, as are the tests.
/// * A reason that rests on a single seed names it, unless the observations are exact.
/// * Where nothing can be said: not run, with the command that would; not checkable here, where an
///   input is missing (`here`; without it, all are) or no command of this version checks it.
ClaimCheck check(const Claim& claim, std::span<const Observation> observations,
                 const std::map<std::string, CustomCheck, std::less<>>& custom,
                 const NeedIsHere& here = {});

/// The claim as observations of that profile are asked: with what `at` says of it.
Claim asked_at(Claim claim, const std::string& profile);

/// "assay run lazarus/fig8 --profile toy --mode exact -a model=gpt-l": what produces the
/// observations that the claim asks for; empty when it is checkable nowhere.
std::string command_for(const Claim& claim);

/// {"id","experiment","kind","says","value","unit","verdict","reason","provenance","obtained",
/// "explained","headline","cells","source","evidence","needs","command"}; value, obtained,
/// provenance, evidence and command are null where there is none; explained is null or {"because",
/// "obtained","within","holds"}. `--json` of commands adds "state" (report::claim_json).
nlohmann::json to_json(const Claim& claim, const ClaimCheck& check);

}  // namespace assay
