// What a night comes to, from its rows. Pure.
#pragma once

#include <optional>

#include "suite/gate/night.hpp"

namespace assay::gate {

/// How many times slower B is than A, whichever way of the metric is better: above 1 is worse.
/// nullopt: no ratio, or a metric without direction.
std::optional<double> slowdown(const compare::Row&);

/// Not muted, and confirmed after this night.
bool is_regression(const NightRow&);
/// Not muted, and a candidate after this night: warned about.
bool is_warning(const NightRow&);

/// Whether all rows together fail the night: their geometric mean is beyond the margin, and so is
/// half of it for the median row: a single row, however slow, is judged by itself.
bool mean_beyond_margin(const Night&);

/// Fills in relative_to_control, geometric_mean and verdict. A row counts in the mean when it has a
/// slowdown, is not bimodal, not deterministic, and not muted; where old and new program were rerun
/// in turns, with what that came to. Fewer than three such rows have no mean (1). Confirmed
/// regressions come before failures, failures before ambiguity; ambiguous is a night in which less
/// than half of the rows that could have been decided were.
void judge(Night&);

}  // namespace assay::gate
