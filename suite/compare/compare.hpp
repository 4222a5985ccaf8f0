// The comparison itself, without databases or terminals: two arms in, one row per series out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/compare/arm.hpp"
#include "suite/measure/statistics/ratio.hpp"

namespace assay::compare {

enum class RowVerdict {
    same,
    faster,
    slower,
    ambiguous,
    not_comparable,
    failed,         ///< B failed, and A did not
    failed_before,  ///< both failed: nothing became worse, and nothing is known of the row
};
ASSAY_NAMES(RowVerdict, same, faster, slower, ambiguous, (not_comparable, "not comparable"), failed,
            (failed_before, "failed before too"))

/// Why the verdict is what it is; `Row::reason` begins with its text.
enum class Reason {
    within_margin,     ///< interval inside the margin: same
    beyond_margin,     ///< interval outside: faster or slower
    straddles_margin,  ///< ambiguous: more samples would decide
    too_few,           ///< ambiguous: no interval from so few values or sessions
    bimodal,           ///< ambiguous: two clusters, of the pairs' ratios if there are pairs
    identical,         ///< a deterministic metric, equal seed by seed
    changed,           ///< a deterministic metric that differs: its direction decides
    no_direction,      ///< ambiguous: it differs, and neither way is better
    not_positive,      ///< no ratio of values that are not all above zero: their order decides
                       ///< where the sides do not overlap, else ambiguous. A benchmark's time of
                       ///< zero was not measured: not comparable
    not_a_number,      ///< not comparable: a benchmark wrote NaN or Infinity
    context_differs,   ///< not comparable: says in what
    only_in_a,         ///< not comparable
    only_in_b,
    all_failed,    ///< a side has no sample that is ok: failed if that is B, failed before too if
                   ///< it is both, else not comparable
    all_excluded,  ///< not comparable: a side's samples were all marked invalid
    aggregates_only,  ///< not comparable: a side's file has means of the benchmark, no repetitions
};
ASSAY_NAMES(Reason, (within_margin, "within-margin"), (beyond_margin, "beyond-margin"),
            (straddles_margin, "straddles-margin"), (too_few, "too-few"), bimodal, identical,
            changed, (no_direction, "no-direction"), (not_positive, "not-positive"),
            (not_a_number, "not-a-number"), (context_differs, "context-differs"),
            (only_in_a, "only-in-a"), (only_in_b, "only-in-b"), (all_failed, "all-failed"),
            (all_excluded, "all-excluded"), (aggregates_only, "aggregates-only"))

struct Options {
    double margin = 0.01;             ///< relative; what is smaller does not matter
    std::map<RowId, double> margins;  ///< of rows or whole series, where larger: their A/A spread
    double level = 0.95;
    std::set<std::string> across;  ///< context keys that may differ all the same ("hardware")
    bool all_metrics = false;      ///< also those of which neither direction is better
    /// Only series of one whole identity belong together. Else those of one name do, and a row may
    /// say that their profiles differ.
    bool whole_ids = false;
};

struct Row {
    RowId id;  ///< of the series in B; in A where B lacks it
    std::string unit;
    double ratio = 0, low = 0, high = 0;  ///< B over A; NaN where there is none
    int n_a = 0, n_b = 0;
    RowVerdict verdict = RowVerdict::ambiguous;
    Reason reason_code = Reason::too_few;
    /// "beyond-margin: 7 pairs, all above 1.01"; says so when it is unpaired or rests on the
    /// medians of several sessions, and what else of the values did not count.
    std::string reason;
    Direction better = Direction::none;
    double margin = 0;
    double level = 0;  ///< what the interval covers: as asked, or less with very few values
    bool paired = false;
    statistics::IntervalMethod method = statistics::IntervalMethod::none;
    const Series* a = nullptr;  ///< into the arms; null where that side lacks it
    const Series* b = nullptr;
    /// Sentences that must be read beside the verdict, for it may mislead without them.
    std::vector<std::string> warnings;
    /// What failed and skipped samples say of themselves: "B: cannot open the device". The reason
    /// has the first of them, shortened.
    std::vector<std::string> errors;
    bool regression() const { return verdict == RowVerdict::slower; }
};

/// Whether the interval leaves open that B is a quarter larger, and that it is a quarter smaller.
bool nothing_is_known(const Row&);
/// "nothing is known: 0.13 to 1.59": as the reason of such a row calls its interval.
std::string nothing_known_text(double low, double high);

/// Rows in the order of A, then what only B has. The arms must outlive the rows. Rows of real and
/// CPU time of one benchmark that went opposite ways have a warning that says so.
std::vector<Row> compare(const Arm& a, const Arm& b, const Options& = {});

}  // namespace assay::compare
