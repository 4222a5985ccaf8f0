// What a night comes to, from its rows. Pure.
#pragma once

#include <optional>

#include "suite/gate/night.hpp"

namespace assay::gate {

/// How many times slower B is than A, whichever way of the metric is better: above 1 is worse.
/// nullopt: no ratio, or a metric without direction.
std::optional<double> slowdown(const compare::Row&);

/// The slowdown of a control's row as it weighs on all rows: 1 where its interval does not exclude
/// 1, since the control's own noise must not become everybody's. nullopt: as slowdown().
std::optional<double> control_slowdown(const compare::Row&);

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
/// rows have no mean (1). Confirmed regressions come before failures, failures before ambiguity;
/// ambiguous is a night in which less than half of the rows that could have been decided were. A
/// row that is not compared, since its data, calibration or machine is another one than the
/// baseline's, since all of its samples were invalid, or since it is gone, is one that was not
/// decided. So is a night that has a baseline and compares nothing with it.
void judge(Night&);

}  // namespace assay::gate
