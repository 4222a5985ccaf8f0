#include "suite/gate/night_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "suite/measure/statistics/quantile.hpp"
#include "suite/runner/versus/versus.hpp"

namespace assay::gate {
namespace {

/// A mean of fewer rows says no more than the rows do, and they are judged one by one.
constexpr int fewest_in_mean = 3;
/// Rows that are rerun when all together look slower.
constexpr std::size_t rerun_for_mean = 10;

bool deterministic(const compare::Row& row) {
    return row.reason_code == compare::Reason::identical ||
           row.reason_code == compare::Reason::changed;
}

/// Both sides have values that belong together.
bool has_both_sides(const compare::Row& row) {
    return row.verdict != compare::RowVerdict::not_comparable &&
           row.verdict != compare::RowVerdict::failed &&
           row.verdict != compare::RowVerdict::failed_before;
}

bool counts_in_mean(const NightRow& row) {
    const compare::Row& against = row.against_baseline;
    return !row.muted && has_both_sides(against) && !deterministic(against) &&
           against.reason_code != compare::Reason::bimodal && slowdown(against).has_value();
}

/// Geometric mean over the metrics of the control; 1 without one.
double all_controls(const Night& night) {
    double sum = 0;
    for (const auto& [metric, ratio] : night.control) sum += std::log(ratio);
    return night.control.empty() ? 1 : std::exp(sum / static_cast<double>(night.control.size()));
}

/// Old program against new, side by side.
std::optional<double> rerun_slowdown(const NightRow& row) {
    return row.rerun && row.rerun_paired ? slowdown(*row.rerun) : std::nullopt;
}

/// What a row counts with: reruns in turns say it best, and need no control.
double counted_slowdown(const NightRow& row, double control) {
    if (const auto again = rerun_slowdown(row)) return *again;
    return *slowdown(row.against_baseline) / control;
}

void fill_mean(Night& night, double control) {
    std::vector<double> slowdowns, again;
    double sum = 0;
    for (const NightRow& row : night.rows) {
        if (!counts_in_mean(row)) continue;
        slowdowns.push_back(counted_slowdown(row, control));
        sum += std::log(slowdowns.back());
        if (const auto rerun = rerun_slowdown(row)) again.push_back(*rerun);
    }
    night.rerun_slowdown.reset();
    if (again.size() >= static_cast<std::size_t>(fewest_in_mean))
        night.rerun_slowdown = statistics::median(again);
    const auto rows = static_cast<int>(slowdowns.size());
    night.geometric_mean.reset();
    night.median_slowdown.reset();
    if (rows < fewest_in_mean) return;
    night.geometric_mean = std::exp(sum / rows);
    night.median_slowdown = statistics::median(slowdowns);
}

/// Not compared, although the baseline has the row: nobody knows what became of it.
bool out_of_sight(const compare::Row& row) {
    return row.reason_code == compare::Reason::context_differs ||
           row.reason_code == compare::Reason::only_in_a ||
           row.reason_code == compare::Reason::all_excluded || is_without_level(row);
}

bool too_little_decided(const Night& night) {
    std::size_t open = count_of(night, Standing::undecided);
    const std::size_t decided = count_of(night, Standing::compared);
    for (const NightRow& row : night.rows)
        if (standing(row) == Standing::not_compared && out_of_sight(row.against_baseline)) ++open;
    return open > decided || decided == 0;
}

NightVerdict verdict(const Night& night) {
    if (std::any_of(night.rows.begin(), night.rows.end(), is_regression) ||
        mean_beyond_margin(night) || !night.below_level.empty())
        return NightVerdict::regression;
    if (!night.failures.empty()) return NightVerdict::error;
    if (night.baseline_session.empty()) return NightVerdict::no_baseline;
    return too_little_decided(night) ? NightVerdict::ambiguous : NightVerdict::clean;
}

}  // namespace

int exit_code(NightVerdict verdict) {
    switch (verdict) {
        case NightVerdict::clean:
        case NightVerdict::no_baseline:
            return 0;
        case NightVerdict::error:
            return 1;
        case NightVerdict::regression:
            return 2;
        case NightVerdict::ambiguous:
            return 3;
    }
    return 1;
}

std::optional<double> slowdown(const compare::Row& row) {
    if (!std::isfinite(row.ratio) || !(row.ratio > 0) || row.better == Direction::none)
        return std::nullopt;
    return row.better == Direction::lower ? row.ratio : 1 / row.ratio;
}

std::optional<double> control_slowdown(const compare::Row& row) {
    const auto slower = slowdown(row);
    const bool differs = row.low > 1 || row.high < 1;
    return slower && !differs ? std::optional(1.0) : slower;
}

Standing standing(const NightRow& row) {
    const compare::Row& against = row.against_baseline;
    if (row.muted) return Standing::muted;
    if (!has_both_sides(against)) return Standing::not_compared;
    if (row.evidence != Evidence::none) return Standing::compared;
    return against.reason_code == compare::Reason::bimodal ||
                   against.reason_code == compare::Reason::no_direction
               ? Standing::informational
               : Standing::undecided;
}

std::size_t count_of(const Night& night, Standing wanted) {
    return static_cast<std::size_t>(
        std::count_if(night.rows.begin(), night.rows.end(),
                      [&](const NightRow& row) { return standing(row) == wanted; }));
}

bool is_without_level(const compare::Row& row) {
    if (row.verdict == compare::RowVerdict::failed_before) return true;
    return row.verdict == compare::RowVerdict::not_comparable && row.n_a == 0 &&
           (row.reason_code == compare::Reason::all_failed ||
            row.reason_code == compare::Reason::all_excluded);
}

bool is_regression(const NightRow& row) { return !row.muted && row.step.to == State::confirmed; }

bool is_warning(const NightRow& row) { return !row.muted && row.step.to == State::candidate; }

bool mean_is_suspicious(const Night& night) {
    return night.geometric_mean && *night.geometric_mean > 1 + night.margin &&
           *night.median_slowdown > 1 + night.margin / 2;
}

void mark_for_mean(Night& night) {
    judge(night);
    if (!mean_is_suspicious(night)) return;
    std::vector<NightRow*> slowest;
    for (NightRow& row : night.rows) {
        const bool control = row.against_baseline.id.experiment == runner::control_experiment;
        if (counts_in_mean(row) && !row.candidate && !control) slowest.push_back(&row);
    }
    std::stable_sort(slowest.begin(), slowest.end(), [](const NightRow* a, const NightRow* b) {
        return *slowdown(a->against_baseline) > *slowdown(b->against_baseline);
    });
    slowest.resize(std::min(slowest.size(), rerun_for_mean));
    for (NightRow* row : slowest) row->rerun_for_mean = true;
}

bool mean_beyond_margin(const Night& night) {
    return mean_is_suspicious(night) && night.rerun_slowdown &&
           *night.rerun_slowdown > 1 + night.margin;
}

void judge(Night& night) {
    const double control = all_controls(night);
    for (NightRow& row : night.rows) {
        const auto slower = slowdown(row.against_baseline);
        row.relative_to_control = night.control.empty() || !slower ? 0 : *slower / control;
    }
    fill_mean(night, control);
    night.verdict = verdict(night);
}

}  // namespace assay::gate
