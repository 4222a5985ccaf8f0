// From the values of two series to a verdict: what cannot be compared first, then what must be
// equal, then the interval of the ratio against the margin.
#include "suite/compare/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace assay::compare {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// "context-differs: hardware 1a2b in A, 3c4d in B; profile …"
void decide_context(Row& row, const Match& match) {
    std::vector<std::string> parts;
    for (const std::string& key : match.differs) {
        const auto said = [](const std::string& value) { return value.empty() ? "none" : value; };
        parts.push_back(fmt::format("{} {} in A, {} in B", key, said(match.a->context.at(key)),
                                    said(match.b->context.at(key))));
    }
    decide(row, Verdict::not_comparable, Reason::context_differs,
           fmt::format("{}", fmt::join(parts, "; ")));
}

std::string how_it_failed(const Series& side, const char* name) {
    if (side.excluded == 0) return fmt::format("all {} samples of {} failed", side.failed, name);
    return fmt::format("of the {} samples of {}, {} failed and {} were marked invalid",
                       side.failed + side.excluded, name, side.failed, side.excluded);
}

/// Both sides without a single value, and both failed. False: something else.
bool decide_failed_before(Row& row, const Series& a, const Series& b) {
    if (!a.points.empty() || !b.points.empty() || a.failed == 0 || b.failed == 0) return false;
    decide(row, Verdict::failed_before, Reason::all_failed,
           how_it_failed(b, "B") + ", and so it was before: " + how_it_failed(a, "A"));
    return true;
}

/// A side without a single value. False: it has some.
bool decide_empty(Row& row, const Series& side, const char* name) {
    if (!side.points.empty()) return false;
    if (side.failed > 0)
        // Where A is the one that failed, nothing became worse.
        decide(row, name[0] == 'B' ? Verdict::failed : Verdict::not_comparable, Reason::all_failed,
               how_it_failed(side, name));
    else if (side.excluded > 0)
        decide(row, Verdict::not_comparable, Reason::all_excluded,
               fmt::format("all {} samples of {} were skipped or marked invalid", side.excluded,
                           name));
    else
        decide(row, Verdict::not_comparable,
               name[0] == 'A' ? Reason::only_in_b : Reason::only_in_a);
    return true;
}

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

/// What a reader of any row with values must know besides: values that did not count, an interval
/// that promises less than asked, context that one side does not tell.
std::string notes(const Row& row, const Options& options) {
    std::string text;
    for (const auto& [side, name] : {std::pair(row.a, "A"), std::pair(row.b, "B")}) {
        if (side->failed > 0) text += fmt::format("; {} failed in {}", side->failed, name);
        if (side->excluded > 0) text += fmt::format("; {} excluded in {}", side->excluded, name);
    }
    const auto alone = [&](const Series& side, int n) {
        return row.paired ? static_cast<int>(side.points.size()) - n : 0;
    };
    const int in_a = alone(*row.a, row.n_a), in_b = alone(*row.b, row.n_b);
    if (in_a + in_b > 0) text += fmt::format("; {} of A and {} of B without partner", in_a, in_b);
    if (row.level < options.level)
        text += fmt::format("; the interval covers {:.4g} % only", 100 * row.level);
    for (const auto& [mine, other, name] :
         {std::tuple(row.a, row.b, "A"), std::tuple(row.b, row.a, "B")})
        if (const auto keys = unknown_context(*mine, *other, options.across); !keys.empty())
            text += fmt::format("; context unknown in {}: {}", name, fmt::join(keys, ", "));
    return text;
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
        return decide(row, Verdict::ambiguous, Reason::bimodal,
                      fmt::format("two clusters, {:.3g} times apart; {}", std::exp(gap), text));
    if (row.low >= below && row.high <= above)
        return decide(row, Verdict::same, Reason::within_margin, text);
    if (row.low <= above && row.high >= below)
        return decide(row, Verdict::ambiguous, Reason::straddles_margin,
                      fmt::format("{}; more {} would decide", text,
                                  basis.unit == Basis::Unit::session ? "sessions" : "samples"));
    const Verdict verdict = by_direction(row.better, row.low > above);
    if (verdict == Verdict::ambiguous)
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
    decide(row, Verdict::same, Reason::identical,
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
        return decide(row, Verdict::ambiguous, Reason::not_positive, text);
    decide(row, by_direction(row.better, above), Reason::not_positive,
           fmt::format("every value of B is {} every value of A; {}", above ? "above" : "below",
                       text));
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

void judge_ratio(Row& row, const Pairs& pairs, const Options& options) {
    const auto a = values_of(*row.a), b = values_of(*row.b);
    if (!has_ratio(a) || !has_ratio(b)) return judge_by_order(row, a, b);
    const Basis basis = basis_of(*row.a, *row.b, pairs);
    row.paired = basis.unit == Basis::Unit::pair;
    const statistics::Ratio ratio =
        row.paired ? statistics::paired_ratio(basis.a, basis.b, {options.level, 2000, options.seed})
                   : statistics::unpaired_ratio(basis.a, basis.b, options.level);
    row.ratio = ratio.ratio;
    if (row.paired) row.n_a = row.n_b = ratio.n_a;
    row.method = ratio.interval.method;
    if (row.method == statistics::IntervalMethod::none) {
        // A number that does not even differ from session to session needs no interval.
        if (basis.unit == Basis::Unit::session && one_value(a, b))
            return decide_identical(row, a.front());
        return decide(row, Verdict::ambiguous, Reason::too_few,
                      too_few_text(row, basis, options.level));
    }
    row.low = ratio.interval.low;
    row.high = ratio.interval.high;
    row.level = attained_level(basis, options.level);
    decide_by_interval(row, basis);
}

double margin_of(const RowId& id, const Options& options) {
    double margin = options.margin;
    for (const RowId& key : {id.series(), id})
        if (const auto found = options.margins.find(key); found != options.margins.end())
            margin = std::max(margin, found->second);
    return margin;
}

Row unjudged(const Match& match, const Options& options) {
    // Where one side stands in for all metrics of a case, the other one knows the metric.
    const bool b_knows = match.a == nullptr || (match.b && match.a->name.metric.empty());
    const Series& named = b_knows ? *match.b : *match.a;
    Row row;
    row.id = (match.b ? match.b : match.a)->name;
    row.id.metric = named.name.metric;
    row.id.labels = named.name.labels;
    row.unit = named.unit;
    row.better = named.better;
    row.ratio = row.low = row.high = nan;
    row.n_a = match.a ? static_cast<int>(match.a->points.size()) : 0;
    row.n_b = match.b ? static_cast<int>(match.b->points.size()) : 0;
    row.margin = margin_of(row.id, options);
    row.level = options.level;
    row.a = match.a;
    row.b = match.b;
    return row;
}

}  // namespace

void decide(Row& row, Verdict verdict, Reason reason, const std::string& detail) {
    row.verdict = verdict;
    row.reason_code = reason;
    row.reason = std::string(code(reason)) + (detail.empty() ? "" : ": " + detail);
}

Verdict by_direction(Direction better, bool above) {
    if (better == Direction::none) return Verdict::ambiguous;
    return (better == Direction::higher) == above ? Verdict::faster : Verdict::slower;
}

Row judge(const Match& match, const Options& options) {
    Row row = unjudged(match, options);
    if (match.b == nullptr)
        decide(row, Verdict::not_comparable, Reason::only_in_a);
    else if (match.a == nullptr)
        decide(row, Verdict::not_comparable, Reason::only_in_b);
    else if (!match.differs.empty())
        decide_context(row, match);
    else if (!decide_failed_before(row, *match.a, *match.b) && !decide_empty(row, *match.b, "B") &&
             !decide_empty(row, *match.a, "A")) {
        const Pairs pairs = common_pairs(*match.a, *match.b);
        if (match.a->deterministic && match.b->deterministic && !pairs.a.empty())
            judge_exactly(row, pairs);
        else
            judge_ratio(row, pairs, options);
        row.reason += notes(row, options);
    }
    return row;
}

}  // namespace assay::compare
