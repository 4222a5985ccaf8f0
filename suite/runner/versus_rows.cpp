#include "suite/runner/versus_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::runner {
namespace {

/// The series of either arm that a row is about.
const compare::Series* series_in(const compare::Row& row) { return row.a ? row.a : row.b; }

bool is_about(const Contrast& contrast, const compare::SeriesName& name) {
    if (contrast.experiment != name.experiment || contrast.variant != name.variant ||
        contrast.axes != name.axes)
        return false;
    // Where one side has nothing, neither the row nor the contrast need know of labels.
    return name.metric.empty() || contrast.metric == name.metric ||
           (contrast.answer.pairs == 0 && name.metric.starts_with(contrast.metric + ' '));
}

bool rests_on_an_interval(const compare::Row& row) {
    return row.reason_code == compare::Reason::within_margin ||
           row.reason_code == compare::Reason::beyond_margin;
}

}  // namespace

std::vector<compare::Row> versus_rows(std::vector<compare::Row> rows,
                                      const std::vector<Contrast>& contrasts) {
    std::vector<compare::Row> result;
    for (compare::Row& row : rows) {
        const compare::Series* series = series_in(row);
        if (series == nullptr) continue;
        const auto it = std::find_if(
            contrasts.begin(), contrasts.end(),
            [&](const Contrast& contrast) { return is_about(contrast, series->name); });
        if (it == contrasts.end()) continue;
        if (rests_on_an_interval(row) && compare::to_string(row.verdict) != it->verdict()) {
            row.verdict = compare::Verdict::ambiguous;
            row.reason_code = compare::Reason::straddles_margin;
            row.reason = fmt::format(
                "straddles-margin: not decided by {} rounds looked at one by one, though a single "
                "look would say {}",
                it->rounds, row.reason);
        }
        result.push_back(std::move(row));
    }
    return result;
}

}  // namespace assay::runner
