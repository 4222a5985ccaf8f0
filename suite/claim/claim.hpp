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

#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/series.hpp"

namespace assay {

enum class ClaimVerdict {
    supported,
    contradicted,
    calibrated,        ///< the statement was used to fit, rebuild or choose what "reproduces" it
    open_discrepancy,  ///< does not hold as printed; the claim file explains what is known
    not_checkable_here,
    not_run,
};
std::string_view to_string(
    ClaimVerdict);  ///< "supported", …, "open discrepancy", "not checkable here", "not run"

/// A setting ("32 nodes") is what the paper chose, not what it found: it is never checked, and no
/// count of claims has it.
enum class ClaimKind { claim, setting };
std::string_view to_string(ClaimKind);

/// Selects observations: a variant, axis values, metric labels.
struct Selector {
    std::string variant;  ///< empty: any
    Case where;           ///< axis or label → value
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
    std::string
        along;  ///< increasing/decreasing/order: the axis or label (or "variant") walked along
    std::vector<std::string> order;  ///< test = order: variants from largest to smallest
    std::string test;  ///< near|at_least|at_most|greater|increasing|decreasing|order|custom:NAME

    std::map<std::string, std::string> checkable;  ///< profile → provenance
    std::vector<std::string> needs;                ///< "trace:smartmoe", "gpu", "weights", …
    std::map<std::string, std::vector<double>>
        assumes;  ///< inputs neither measured nor published, as ranges
    /// What else a profile's observations are asked for: see `at` in datasets/claims/README.md.
    struct AtProfile {
        std::string metric;                                  ///< in place of `metric`; empty: no
        std::map<std::string, std::vector<double>> assumes;  ///< besides `assumes`
    };
    std::map<std::string, AtProfile> at;   ///< by profile
    std::vector<std::string> fitted_from;  ///< clauses: what was fitted to, rebuilt from or chosen
                                           ///< by the paper's own statement
    std::string discrepancy;  ///< known: why the printed value does not come out; with our evidence
    std::string not_checkable;  ///< a reason that holds at every profile ("needs 16 GPUs …")
    std::string source;
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

struct ClaimCheck {
    std::string claim;
    ClaimVerdict verdict = ClaimVerdict::not_run;
    std::string reason;  ///< a sentence: what was compared, over how many samples, with what spread
    std::optional<Provenance> provenance;
    std::optional<double> obtained;
};

using CustomCheck = std::function<ClaimCheck(const Claim&, std::span<const Observation>)>;

/// Whether an input that a claim needs ("trace:smartmoe", "gpu") is on this machine.
using NeedIsHere = std::function<bool(const std::string& need)>;

/// Checks one claim against the observations of its experiment.
///
/// * Observations count only at a (profile, provenance) that `checkable` names; of several, the
///   largest profile that has what the claim asks for. With several seeds or rounds the median
///   counts.
/// * Axes and labels that the selectors leave open make several cases: the claim must hold in each,
///   and `obtained` is the least favourable one.
/// * Each machine is judged on its own. Where all agree, the least favourable one speaks and the
///   reason names them; where a claim holds on one and not on another, it does not hold, and the
///   reason says where it does.
/// * On one machine only what comparable_sets() (series.hpp) puts into one set is set against each
///   other or behind one median: never one side of one calibration or data set and the other side
///   of another, unless a single session made both. A claim that what was run could answer in no
///   other way is not run. Which results of an edited calibration or data set still count, the
///   store decides: see Store::observations().
/// * With `over` the quantity is the ratio of the two sides, taken seed by seed where both sides
/// have
///   the same seeds (median of the ratios), else the ratio of the medians.
/// * near: within the tolerance (the wider of relative and absolute). at_least, at_most: the
/// tolerance
///   is a margin. greater: strictly above `value`; without one, strictly above the other side.
///   increasing, decreasing: no step against the direction (beyond the tolerance) and a difference
///   from end to end. order: `order` names variants (or values of `along`) from largest to
///   smallest, neighbours may be equal, the ends may not. custom:NAME: `custom[NAME]` sees every
///   observation of the chosen profile and provenance that one comparable set holds; of several
///   sets that answer, the least favourable counts; where none does, each session is asked alone.
/// * `assumes`: the observations carry the assumption as an axis or label of that name; supported
/// only
///   if the claim holds at every choice of ends. `at`: what a profile is asked for besides.
///   `fitted_from`: holding reads calibrated, and says what it names; so it does where an
///   observation's calibration was fitted from this very claim. `discrepancy`: not holding reads
///   open discrepancy.
/// * A reason that rests on a single seed names it, unless the observations are exact.
/// * Where nothing can be said: not run, with the command that would; not checkable here, where an
///   input is missing (`here`; without it, all are) or no command of this version checks it.
ClaimCheck check(const Claim& claim, std::span<const Observation> observations,
                 const std::map<std::string, CustomCheck, std::less<>>& custom,
                 const NeedIsHere& here = {});

/// A finding as the claim reads it: not holding is an open discrepancy where the claim explains it,
/// holding is calibrated where what was checked comes from the statement itself. Twice is as once.
ClaimCheck judged(const Claim& claim, ClaimCheck finding);

/// The claim as observations of that profile are asked: with what `at` says of it.
Claim asked_at(Claim claim, const std::string& profile);

/// "assay run lazarus/fig8 --profile toy --mode exact -a model=gpt-l": what produces the
/// observations that the claim asks for; empty when it is checkable nowhere.
std::string command_for(const Claim& claim);

/// {"id","experiment","kind","says","value","unit","verdict","reason","provenance","obtained",
/// "source","needs","command"}; value, obtained, provenance and command are null where there is
/// none. `--json` of commands adds "state" (report::claim_json).
nlohmann::json to_json(const Claim& claim, const ClaimCheck& check);

}  // namespace assay
