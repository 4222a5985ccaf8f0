// What a night comes to, from its rows. Pure.
#pragma once

#include <cstddef>
#include <optional>

#include "suite/base/describe.hpp"
#include "suite/gate/night.hpp"

namespace assay::gate {

/// How many times slower B is than A, whichever way of the metric is better: above 1 is worse.
/// nullopt: no ratio, or a metric without direction.
std::optional<double> slowdown(const compare::Row&);

/// The slowdown of a control's row as it weighs on all rows: 1 where its interval does not exclude
/// 1, since the control's own noise must not become everybody's. nullopt: as slowdown().
std::optional<double> control_slowdown(const compare::Row&);

/// What came of a row's comparison; a report never calls a night's rows compared but for these.
enum class Standing {
    compared,       ///< the night tells whether it is slower
    undecided,      ///< both sides have values, and nobody can tell
    informational,  ///< two clusters of values, or no better direction: never judged
    muted,          ///< by a person, whatever it says
    not_compared,   ///< a side has no values, or the contexts differ
};
ASSAY_NAMES(Standing, compared, undecided, informational, muted, (not_compared, "not compared"))
/// By what the night says about it after its reruns (NightRow::evidence).
Standing standing(const NightRow&);
std::size_t count_of(const Night&, Standing);

/// Whether the row had no value when its level was accepted: every sample failed, or was skipped or
/// marked invalid. Nothing judges it until it is accepted anew.
bool is_without_level(const compare::Row&);

/// Not muted, and confirmed after this night.
bool is_regression(const NightRow&);
/// Not muted, and a candidate after this night: warned about.
bool is_warning(const NightRow&);

/// Whether all rows together look slower: their geometric mean is beyond the margin, and the median
/// row beyond half of it: a single row, however slow, is judged by itself.
bool mean_is_suspicious(const Night&);
/// Judges the night as it is before its reruns, and if all rows together look slower, has the ten
/// slowest rerun that are no candidates anyway (the rows' pointers into the arms must be there).
void mark_for_mean(Night&);
/// Whether all rows together fail the night: they look slower, and so they are in reruns in turns,
/// by the margin. Without reruns in turns a slow machine could not be told from slow code.
bool mean_beyond_margin(const Night&);

/// Fills in relative_to_control, geometric_mean, median_slowdown, rerun_slowdown and verdict. A row
/// counts in the mean when it has a slowdown, is not bimodal, not deterministic, and not muted;
/// where old and new program were rerun in turns, with what that came to. Fewer than three such
/// rows have no mean. Confirmed regressions
/// and rows below a level come before failures, failures before ambiguity;
/// ambiguous is a night in which less than half of the rows that could have been decided were. A
/// row that is not compared, since its data, calibration or machine is another one than the
/// baseline's, since a side has no valid sample, or since it is gone, is one that was not decided.
/// So is a night that has a baseline and compares nothing with it: every row may be muted.
void judge(Night&);

}  // namespace assay::gate
