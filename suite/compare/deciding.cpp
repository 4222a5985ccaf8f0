#include "suite/compare/deciding.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "suite/report/text/row_name.hpp"

namespace assay::compare {
namespace {

/// As many as decide this share of what can be decided: one restless row must not ask for all.
constexpr double share_to_decide = 0.8;

bool more_would_decide(const Row& row) {
    return row.verdict == RowVerdict::ambiguous && std::isfinite(row.ratio) && row.ratio > 0 &&
           (row.reason_code == Reason::straddles_margin || row.reason_code == Reason::too_few);
}

/// Of numbers above zero, their logarithms'; 0 of fewer than two.
double log_variance(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    if (values.size() < 2) return 0;
    double sum = 0, squares = 0;
    for (const double value : values) sum += std::log(value);
    for (const double value : values) squares += std::pow(std::log(value) - sum / n, 2);
    return squares / (n - 1);
}

/// That of the ratio's logarithm with one pair, or one value of either side.
double noise(const Basis& basis) {
    if (basis.unit != Basis::Unit::pair) return log_variance(basis.a) + log_variance(basis.b);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < basis.a.size(); ++i) ratios.push_back(basis.b[i] / basis.a[i]);
    return log_variance(ratios);
}

/// What the interval would rest on with more of it: pairs, however few they are now.
Basis basis_with_more(const Row& row) {
    Pairs pairs = common_pairs(*row.a, *row.b);
    if (rests_on_sessions(*row.a, *row.b) || pairs.a.size() < 2)
        return unpaired_basis(*row.a, *row.b);
    return {Basis::Unit::pair, std::move(pairs.a), std::move(pairs.b)};
}

bool is_decided(const Row& row, double margin) {
    const double above = 1 + margin, below = 1 / above;
    return row.method != statistics::IntervalMethod::none &&
           ((row.low >= below && row.high <= above) || row.low > above || row.high < below);
}

/// With how many the interval of the row would lie within the margin, or outside, if ratio and
/// noise stay what they are; 0: it does; most_needed + 1: with more than those. Of a ratio of which
/// not even the direction is known the margin is to be resolved, as if nothing had changed; at the
/// edge of the margin half of it, for there no number is enough.
int needed_of(const Row& row, double asked_margin) {
    constexpr double of_median = 1.2533;  // its standard error over that of a mean
    constexpr double interval = 1.96;     // standard errors on either side, for 95 %
    // Between ratio and margin, so that four of five such intervals lie on one side of it.
    constexpr double apart = interval + 0.84;
    if (is_decided(row, asked_margin)) return 0;
    const Basis basis = basis_with_more(row);
    const std::size_t has = std::min(basis.a.size(), basis.b.size());
    const double margin = std::log1p(asked_margin), change = std::abs(std::log(row.ratio));
    double error = of_median * std::sqrt(noise(basis) / static_cast<double>(has));
    bool has_direction = interval * error - change <= margin;
    if (row.method != statistics::IntervalMethod::none) {
        error = std::max(error, std::log(row.high / row.low) / (2 * interval));
        has_direction = std::log(row.low) >= -margin || std::log(row.high) <= margin;
    }
    const double distance =
        has_direction ? std::max(std::abs(change - margin), margin / 2) : margin;
    const double by_noise = static_cast<double>(has) * std::pow(apart * error / distance, 2);
    const int fewest = basis.unit == Basis::Unit::session ? 4 : statistics::smallest_n_for_interval;
    // What there is was not enough, nor will be one more.
    const int least = std::max(fewest, static_cast<int>(has + has / 2 + 1));
    return by_noise <= most_needed ? std::max(least, static_cast<int>(std::ceil(by_noise)))
                                   : most_needed + 1;
}

/// By a margin of the rows' own, or one that is larger.
void count_needed(Deciding& of, double margin) {
    std::vector<int> needed;
    for (const Row* row : of.rows) needed.push_back(needed_of(*row, std::max(row->margin, margin)));
    std::erase_if(needed, [](int n) { return n > most_needed; });
    std::sort(needed.begin(), needed.end());
    of.margin = margin;
    of.decided = 0;
    of.needed.reset();
    if (needed.empty()) return;
    const auto most =
        static_cast<std::size_t>(std::ceil(share_to_decide * static_cast<double>(needed.size())));
    of.needed = needed[most - 1];
    of.decided = static_cast<std::size_t>(
        std::upper_bound(needed.begin(), needed.end(), *of.needed) - needed.begin());
}

double seconds_of(const Row& row) { return std::max(row.a->sample_s, row.b->sample_s); }

double rounds_in_session(const Row& row) {
    return static_cast<double>(row.b->points.size()) / std::max(1, sessions_in(*row.b));
}

void count_seconds(Deciding& of) {
    std::map<RowId, const Row*> series;
    for (const Row* row : of.rows) series.emplace(row->id.series(), row);
    for (const auto& [id, row] : series) {
        of.round_s += seconds_of(*row);
        of.session_s += seconds_of(*row) * rounds_in_session(*row);
    }
}

}  // namespace

std::optional<Deciding> what_would_decide(std::span<const Row> rows) {
    using Group =
        std::tuple<std::string, std::optional<Profile>, std::optional<Provenance>, std::string>;
    std::map<Group, std::vector<const Row*>> groups;
    std::size_t all = 0;
    for (const Row& row : rows) {
        if (!more_would_decide(row)) continue;
        const bool imported = report::imported_benchmark(row.id).has_value();
        groups[{imported ? "" : row.id.experiment, row.id.profile, row.id.provenance,
                row.id.scenario}]
            .push_back(&row);
        ++all;
    }
    if (groups.empty()) return std::nullopt;
    Deciding of;
    of.rows = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
                  return a.second.size() < b.second.size();
              })->second;
    of.others = all - of.rows.size();
    of.unit = basis_with_more(*of.rows.front()).unit;
    // The smallest margin with which half of them can be told.
    for (const double margin : {0.0, 0.02, 0.05, 0.1, 0.2, 0.5}) {
        count_needed(of, margin);
        if (2 * of.decided >= of.rows.size()) break;
    }
    if (2 * of.decided < of.rows.size()) count_needed(of, 0);
    count_seconds(of);
    return of;
}

}  // namespace assay::compare
