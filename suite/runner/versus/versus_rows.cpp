#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/runner/versus/versus.hpp"

namespace assay::runner {
namespace {

bool is_about(const Contrast& contrast, const RowId& row) {
    if (contrast.experiment != row.experiment || contrast.variant != row.variant ||
        contrast.axes != row.axes)
        return false;
    // Where one side has nothing, neither the row nor the contrast need know of labels.
    if (row.metric.empty()) return true;
    if (contrast.metric.name != row.metric) return false;
    return contrast.metric.labels == row.labels ||
           (contrast.answer.pairs == 0 && contrast.metric.labels.empty());
}

bool rests_on_an_interval(const compare::Row& row) {
    return row.reason_code == compare::Reason::within_margin ||
           row.reason_code == compare::Reason::beyond_margin;
}

/// Two clusters leave one look undecided, since their share may differ by chance. The rounds have
/// taken chance into account: what they say of the median holds whatever the distribution.
void decide_by_rounds(compare::Row& row, const Contrast& contrast) {
    using compare::Reason, compare::RowVerdict;
    for (const RowVerdict verdict : {RowVerdict::same, RowVerdict::faster, RowVerdict::slower}) {
        if (compare::to_string(verdict) != contrast.verdict()) continue;
        row.verdict = verdict;
        row.reason_code =
            verdict == RowVerdict::same ? Reason::within_margin : Reason::beyond_margin;
        row.reason = fmt::format("{}: decided by {} rounds looked at one by one; {}",
                                 to_string(row.reason_code), contrast.rounds, row.reason);
    }
}

/// The ratio on which the rounds decided, with the interval that holds however often one looks.
void tell_the_rounds(compare::Row& row, const Contrast& contrast) {
    if (!std::isfinite(contrast.ratio) || contrast.ratio <= 0) return;
    row.ratio = contrast.ratio;
    row.low = contrast.answer.low;
    row.high = contrast.answer.high;
}

bool is_deterministic(const compare::Row& row) {
    return row.reason_code == compare::Reason::identical ||
           row.reason_code == compare::Reason::changed;
}

/// Of `metric`, or of any where one of them stands for all.
bool same_row(const RowId& a, const RowId& b) {
    return a.experiment == b.experiment && a.variant == b.variant && a.axes == b.axes &&
           (a.metric.empty() || b.metric.empty() || (a.metric == b.metric && a.labels == b.labels));
}

/// Adds the row, or to its likeness what is to be said of it.
void add_once(std::vector<compare::Row>& rows, compare::Row row) {
    const auto other = std::find_if(rows.begin(), rows.end(), [&](const compare::Row& known) {
        return same_row(known.id, row.id);
    });
    if (other == rows.end()) return rows.push_back(std::move(row));
    const bool has_values = row.n_a > 0 && row.n_b > 0;
    if (has_values && (other->n_a == 0 || other->n_b == 0)) std::swap(*other, row);
    other->reason += "; other samples of it stand apart: " + row.reason;
}

}  // namespace

std::vector<compare::Row> versus_rows(std::vector<compare::Row> rows,
                                      const std::vector<Contrast>& contrasts) {
    std::vector<compare::Row> result;
    for (compare::Row& row : rows) {
        const auto it =
            std::find_if(contrasts.begin(), contrasts.end(),
                         [&](const Contrast& contrast) { return is_about(contrast, row.id); });
        if (it == contrasts.end()) continue;
        const bool left_open =
            row.reason_code == compare::Reason::straddles_margin && it->verdict() != "ambiguous";
        if (!is_deterministic(row) && !left_open && row.n_a > 0 && row.n_b > 0)
            tell_the_rounds(row, *it);
        if (row.reason_code == compare::Reason::bimodal && it->verdict() != "ambiguous") {
            decide_by_rounds(row, *it);
        } else if (rests_on_an_interval(row) && compare::to_string(row.verdict) != it->verdict()) {
            row.verdict = compare::RowVerdict::ambiguous;
            row.reason_code = compare::Reason::straddles_margin;
            row.reason = fmt::format(
                "straddles-margin: not decided by {} rounds looked at one by one, though a single "
                "look would say {}",
                it->rounds, row.reason);
        }
        add_once(result, std::move(row));
    }
    return result;
}

}  // namespace assay::runner
