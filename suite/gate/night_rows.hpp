// The rows of a night before its reruns, and what they say after them. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/gate/plan/night_plan.hpp"

namespace assay::gate {

/// What earlier nights and people said about one row, since its level was accepted last.
struct RowPast {
    std::vector<double> medians;  ///< of nights that did not call it slower, oldest first
    bool same_before = false;     ///< the night before said same
    std::optional<State> state;
};

/// Relative distance that two nights of this row exceed in one of ten pairs: the 90 % quantile over
/// all pairs of the newest 20 nights. There, one accident does not count, two do. 0 with fewer than
/// five nights.
double own_spread(const std::vector<double>& medians);

struct RowInputs {
    const compare::Arm* baseline = nullptr;  ///< null: nothing was accepted yet
    const compare::Arm* tonight = nullptr;
    const std::map<RowId, SeriesGate>* gates = nullptr;  ///< by series
    std::map<RowId, RowPast> past;
    /// Whether the baseline's program can be rerun: then reruns in turns tell, and a restless
    /// history excuses nothing.
    bool old_program = false;
    /// Whether a person muted the row.
    std::function<bool(const RowId&)> muted = [](const RowId&) { return false; };
};

/// Rows with comparison, history and candidates. Their arms' pointers are still there.
std::vector<NightRow> night_rows(const RowInputs&);

/// Median of tonight's values; nullopt without any.
std::optional<double> median_tonight(const compare::Row&);

/// What the night says about a row, its rerun (if there was one) included.
Evidence evidence_of(const NightRow&);

}  // namespace assay::gate
