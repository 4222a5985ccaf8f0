// The rows of a night before its reruns, and what they say after them. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/gate/plan/night_plan.hpp"
#include "suite/gate/row_past.hpp"

namespace assay::gate {

/// Relative distance that two nights of this row exceed in one of ten pairs: the 90 % quantile over
/// all pairs of the newest 20 nights. There, one accident does not count, two do. 0 with fewer than
/// five nights.
double own_spread(const std::vector<double>& medians);

struct RowInputs {
    const compare::Arm* baseline = nullptr;  ///< null: nothing was accepted yet
    const compare::Arm* tonight = nullptr;
    const std::map<RowId, SeriesGate>* gates = nullptr;  ///< by series
    std::vector<LeftOut> left_out;                       ///< of the plan
    std::map<RowId, RowPast> past;
    /// Whether the baseline's program can be rerun: then reruns in turns tell, and a restless
    /// history excuses nothing.
    bool old_program = false;
    /// Whether a person muted the row.
    std::function<bool(const RowId&)> muted = [](const RowId&) { return false; };
};

/// Rows with comparison, history and candidates. Their arms' pointers are still there. What the
/// baseline has of an experiment that was left out is a row, not compared. So is one with an open
/// regression, even where its whole series has no values on either side (then in the place of the
/// row that stands for the series), and where this suite does not run it any more.
std::vector<NightRow> night_rows(const RowInputs&);

/// Whether it is there for its open regression alone: neither side has it.
bool is_not_run(const NightRow&);

/// Of the baseline's rows with values, those of `suite` (rows that a night of it had) that it runs
/// no more.
std::vector<RowId> rows_that_left(const RowInputs&, const std::set<RowId>& suite);

/// Median of tonight's values; nullopt without any.
std::optional<double> median_tonight(const compare::Row&);

/// What the night says about a row, its rerun (if there was one) included.
Evidence evidence_of(const NightRow&);

}  // namespace assay::gate
