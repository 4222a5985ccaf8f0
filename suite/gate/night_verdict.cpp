#include "suite/gate/night_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "suite/measure/statistics/quantile.hpp"

namespace assay::gate {
namespace {

/// A mean of fewer rows says no more than the rows do, and they are judged one by one.
constexpr int fewest_in_mean = 3;

bool deterministic(const compare::Row& row) {
    return row.reason_code == compare::Reason::identical ||
           row.reason_code == compare::Reason::changed;
}

bool compared(const compare::Row& row) {
    return row.verdict != compare::Verdict::not_comparable &&
           row.verdict != compare::Verdict::failed;
}

bool counts_in_mean(const NightRow& row) {
    const compare::Row& against = row.against_baseline;
    return !row.muted && compared(against) && !deterministic(against) &&
           against.reason_code != compare::Reason::bimodal && slowdown(against).has_value();
}

/// Geometric mean over the metrics of the control; 1 without one.
double control_slowdown(const Night& night) {
    double sum = 0;
    for (const auto& [metric, ratio] : night.control) sum += std::log(ratio);
    return night.control.empty() ? 1 : std::exp(sum / static_cast<double>(night.control.size()));
}

/// What a row counts with: the reruns in turns say it best.
std::optional<double> counted_slowdown(const NightRow& row) {
    if (row.rerun && row.rerun_paired)
        if (const auto again = slowdown(*row.rerun)) return again;
    return slowdown(row.against_baseline);
}

void fill_mean(Night& night, double control) {
    std::vector<double> slowdowns;
    double sum = 0;
    for (const NightRow& row : night.rows) {
        if (!counts_in_mean(row)) continue;
        slowdowns.push_back(*counted_slowdown(row) / control);
        sum += std::log(slowdowns.back());
    }
    const auto rows = static_cast<int>(slowdowns.size());
    night.geometric_mean = rows < fewest_in_mean ? 1 : std::exp(sum / rows);
    night.median_slowdown = rows < fewest_in_mean ? 1 : statistics::median(slowdowns);
}

bool too_little_decided(const Night& night) {
    int decided = 0, open = 0;
    for (const NightRow& row : night.rows) {
        const compare::Row& against = row.against_baseline;
        if (!compared(against) || row.muted || against.reason_code == compare::Reason::bimodal ||
            against.reason_code == compare::Reason::no_direction)
            continue;
        ++(against.verdict == compare::Verdict::ambiguous ? open : decided);
    }
    return open > decided;
}

NightVerdict verdict(const Night& night) {
    if (std::any_of(night.rows.begin(), night.rows.end(), is_regression) ||
        mean_beyond_margin(night))
        return NightVerdict::regression;
    if (!night.failures.empty()) return NightVerdict::error;
    return too_little_decided(night) ? NightVerdict::ambiguous : NightVerdict::clean;
}

}  // namespace

int exit_code(NightVerdict verdict) {
    switch (verdict) {
        case NightVerdict::clean:
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

bool is_regression(const NightRow& row) { return !row.muted && row.step.to == State::confirmed; }

bool is_warning(const NightRow& row) { return !row.muted && row.step.to == State::candidate; }

bool mean_beyond_margin(const Night& night) {
    return night.geometric_mean > 1 + night.margin && night.median_slowdown > 1 + night.margin / 2;
}

void judge(Night& night) {
    const double control = control_slowdown(night);
    for (NightRow& row : night.rows) {
        const auto slower = slowdown(row.against_baseline);
        row.relative_to_control = night.control.empty() || !slower ? 0 : *slower / control;
    }
    fill_mean(night, control);
    night.verdict = verdict(night);
}

}  // namespace assay::gate
