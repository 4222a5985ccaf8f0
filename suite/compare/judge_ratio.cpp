// The ratio of two series: its interval against the margin, or the order of the values where there
// is no ratio.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "suite/compare/judge.hpp"
#include "suite/import_export/google_benchmark_file.hpp"

namespace assay::compare {
namespace {

bool has_ratio(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(),
                       [](double value) { return std::isfinite(value) && value > 0; });
}

bool one_value(const std::vector<double>& a, const std::vector<double>& b) {
    const auto equal = [&](double value) { return value == a.front(); };
    return std::all_of(a.begin(), a.end(), equal) && std::all_of(b.begin(), b.end(), equal);
}

/// "7 pairs, 6 above 1.01", or what else the interval rests on.
std::string basis_text(const Row& row, const Basis& basis) {
    if (basis.unit != Basis::Unit::pair) return unpaired_text(*row.a, *row.b);
    std::string text = fmt::format("{} pairs", basis.a.size());
    if (row.low > 1 + row.margin || row.high < 1 / (1 + row.margin)) {
        const bool above = row.ratio > 1;
        const double bound = above ? 1 + row.margin : 1 / (1 + row.margin);
        int beyond = 0;
        for (std::size_t i = 0; i < basis.a.size(); ++i) {
            const double ratio = basis.b[i] / basis.a[i];
            beyond += above ? ratio > bound : ratio < bound;
        }
        text += fmt::format(", {} {} {:.4g}",
                            beyond == row.n_a ? std::string("all") : std::to_string(beyond),
                            above ? "above" : "below", bound);
    }
    return text;
}

bool has_wide_interval(const Row& row) {
    constexpr double large = 0.25;  // a change by so much is not overlooked
    const double change = 1 + std::max(large, row.margin);
    return row.high >= change && row.low <= 1 / change;
}

/// Two clusters whose distance could be the whole difference: then the share of the clusters may
/// have changed, by chance, and nothing else. A change larger than that distance is a change.
bool explained_by_clusters(const Row& row, double gap) {
    if (gap <= std::log1p(row.margin)) return false;
    return !(std::log(row.low) > gap || std::log(row.high) < -gap);
}

void decide_by_interval(Row& row, const Basis& basis) {
    const double above = 1 + row.margin, below = 1 / above;
    const std::string text = basis_text(row, basis);
    if (const double gap = log_gap(basis); explained_by_clusters(row, gap))
        return decide(row, RowVerdict::ambiguous, Reason::bimodal,
                      fmt::format("two clusters, {:.3g} times apart; {}", std::exp(gap), text));
    if (row.low >= below && row.high <= above)
        return decide(row, RowVerdict::same, Reason::within_margin, text);
    if (row.low <= above && row.high >= below)
        return decide(
            row, RowVerdict::ambiguous, Reason::straddles_margin,
            fmt::format("{}{}; more {} would decide",
                        has_wide_interval(row) ? nothing_known_text(row.low, row.high) + "; " : "",
                        text, basis.unit == Basis::Unit::session ? "sessions" : "samples"));
    const RowVerdict verdict = by_direction(row.better, row.low > above);
    if (verdict == RowVerdict::ambiguous)
        return decide(row, verdict, Reason::no_direction,
                      "it differs, and neither way is better; " + text);
    decide(row, verdict, Reason::beyond_margin, text);
}

/// Whether every value of `upper` is above every one of `lower`, by more than the margin of the
/// larger of the two that are nearest.
bool lies_above(const std::vector<double>& upper, const std::vector<double>& lower, double margin) {
    const double most = *std::max_element(lower.begin(), lower.end());
    const double least = *std::min_element(upper.begin(), upper.end());
    return least - most > margin * std::max(std::abs(least), std::abs(most));
}

void decide_identical(Row& row, double value) {
    row.ratio = row.low = row.high = 1;
    decide(row, RowVerdict::same, Reason::identical,
           fmt::format("every value of both sides is {:.6g}; {}", value,
                       unpaired_text(*row.a, *row.b)));
}

/// Values of which no ratio can be made, such as steps lost: zero before, some now.
void judge_by_order(Row& row, const std::vector<double>& a, const std::vector<double>& b) {
    if (one_value(a, b)) return decide_identical(row, a.front());
    const std::string text =
        "no ratio of values that are not all numbers above zero; " + unpaired_text(*row.a, *row.b);
    const auto finite = [](double value) { return std::isfinite(value); };
    const auto fewest = rests_on_sessions(*row.a, *row.b)
                            ? std::min(sessions_in(*row.a), sessions_in(*row.b))
                            : std::min(row.n_a, row.n_b);
    const bool enough = fewest >= statistics::smallest_n_for_interval &&
                        std::all_of(a.begin(), a.end(), finite) &&
                        std::all_of(b.begin(), b.end(), finite);
    const bool above = enough && lies_above(b, a, row.margin);
    if (!above && !(enough && lies_above(a, b, row.margin)))
        return decide(row, RowVerdict::ambiguous, Reason::not_positive, text);
    decide(row, by_direction(row.better, above), Reason::not_positive,
           fmt::format("every value of B is {} every value of A; {}", above ? "above" : "below",
                       text));
}

/// "7 of 7 values of B": those that are not above zero; "" for none.
std::string unmeasured(const std::vector<double>& values, const char* name) {
    const auto n = std::count_if(values.begin(), values.end(),
                                 [](double value) { return !(std::isfinite(value) && value > 0); });
    return n == 0 ? std::string() : fmt::format("{} of {} values of {}", n, values.size(), name);
}

/// A benchmark's time that is not above zero: the order of such values says nothing of speed.
void refuse_unmeasured_times(Row& row, const std::vector<double>& a, const std::vector<double>& b) {
    const std::string in_a = unmeasured(a, "A"), in_b = unmeasured(b, "B");
    decide(row, RowVerdict::not_comparable, Reason::not_positive,
           fmt::format("{} is not above zero in {}{}{}: that is no measured time", row.id.metric,
                       in_a, in_a.empty() || in_b.empty() ? "" : " and ", in_b));
}

/// "NaN in 3 of 6 values of B"; "" where all are numbers.
std::string odd_numbers_text(const std::vector<double>& values, const char* name) {
    std::map<std::string_view, int> words;
    for (const double value : values)
        if (!std::isfinite(value)) ++words[odd_number_word(value)];
    std::vector<std::string> parts;
    for (const auto& [word, n] : words)
        parts.push_back(fmt::format("{} in {} of {} values of {}", word, n, values.size(), name));
    return fmt::format("{}", fmt::join(parts, " and "));
}

/// What a benchmark wrote as NaN or Infinity. False: there is none.
bool decide_odd_numbers(Row& row, const std::vector<double>& a, const std::vector<double>& b) {
    if (!row.id.experiment.starts_with(benchmark_prefix)) return false;
    const std::string in_a = odd_numbers_text(a, "A"), in_b = odd_numbers_text(b, "B");
    if (in_a.empty() && in_b.empty()) return false;
    decide(row, RowVerdict::not_comparable, Reason::not_a_number,
           fmt::format("{} is {}{}{}", row.id.metric, in_a,
                       in_a.empty() || in_b.empty() ? "" : " and ", in_b));
    return true;
}

/// What the widest interval of so few values covers; the level asked for where that is more.
double attained_level(const Basis& basis, double asked) {
    // That all values lie on one side of the truth; all of one side below all of the other.
    const auto n_a = static_cast<int>(basis.a.size()), n_b = static_cast<int>(basis.b.size());
    double chance = 1;
    if (basis.unit == Basis::Unit::pair)
        chance = std::pow(0.5, n_a);
    else
        for (int i = 1; i <= n_a; ++i) chance *= double(i) / double(n_b + i);
    return std::min(asked, 1 - 2 * chance);
}

/// "no interval from so few sessions, it would take 4 and 4; medians of 2 and 3 sessions, …"
std::string too_few_text(const Row& row, const Basis& basis, double level) {
    const std::string text = basis_text(row, basis);
    if (basis.unit != Basis::Unit::session) return "no interval from so few values; " + text;
    std::size_t least = 1;
    const auto enough = [&] {
        return statistics::has_unpaired_interval(std::max(basis.a.size(), least),
                                                 std::max(basis.b.size(), least), level);
    };
    while (!enough()) ++least;
    return fmt::format("no interval from so few sessions, it would take {} and {}; {}",
                       std::max(basis.a.size(), least), std::max(basis.b.size(), least), text);
}

}  // namespace

bool nothing_is_known(const Row& row) {
    return row.reason_code == Reason::straddles_margin && has_wide_interval(row);
}

std::string nothing_known_text(double low, double high) {
    return fmt::format("nothing is known: {:.3g} to {:.3g}", low, high);
}

void judge_ratio(Row& row, const Pairs& pairs, const Options& options) {
    const auto a = values_of(*row.a), b = values_of(*row.b);
    if (decide_odd_numbers(row, a, b)) return;
    if (!has_ratio(a) || !has_ratio(b))
        return is_benchmark_time(row.id.experiment, row.id.metric)
                   ? refuse_unmeasured_times(row, a, b)
                   : judge_by_order(row, a, b);
    const Basis basis = basis_of(*row.a, *row.b, pairs);
    row.paired = basis.unit == Basis::Unit::pair;
    const statistics::Ratio ratio =
        row.paired ? statistics::paired_ratio(basis.a, basis.b, options.level)
                   : statistics::unpaired_ratio(basis.a, basis.b, options.level);
    row.ratio = ratio.ratio;
    if (row.paired) row.n_a = row.n_b = ratio.n_a;
    row.method = ratio.interval.method;
    if (row.method == statistics::IntervalMethod::none) {
        // A number that does not even differ from session to session needs no interval.
        if (basis.unit == Basis::Unit::session && one_value(a, b))
            return decide_identical(row, a.front());
        return decide(row, RowVerdict::ambiguous, Reason::too_few,
                      too_few_text(row, basis, options.level));
    }
    row.low = ratio.interval.low;
    row.high = ratio.interval.high;
    row.level = attained_level(basis, options.level);
    decide_by_interval(row, basis);
}

}  // namespace assay::compare
