// From two series to a verdict: what cannot be compared first, then what must be equal, then the
// ratio (judge_ratio.cpp).
#include "suite/compare/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::compare {
namespace {

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
    // Which way is better may have been stated of one side only.
    for (const Series* side : {match.a, match.b})
        if (side && side->name.metric == named.name.metric && row.better == Direction::none)
            row.better = side->better;
    row.ratio = row.low = row.high = std::numeric_limits<double>::quiet_NaN();
    row.n_a = match.a ? static_cast<int>(match.a->points.size()) : 0;
    row.n_b = match.b ? static_cast<int>(match.b->points.size()) : 0;
    row.margin = margin_of(row.id, options);
    row.level = options.level;
    row.a = match.a;
    row.b = match.b;
    for (const auto& [side, name] : {std::pair(row.a, "A: "), std::pair(row.b, "B: ")})
        if (side != nullptr)
            for (const std::string& error : side->errors) row.errors.push_back(name + error);
    return row;
}

/// "context-differs: hardware (cores) 2 in A, 4 in B; profile …"
void decide_context(Row& row, const Match& match, const Options& options) {
    std::vector<std::string> parts;
    for (const Difference& one : differences(*match.a, *match.b, options.across))
        parts.push_back(fmt::format("{} {} in A, {} in B", one.what(), one.in_a, one.in_b));
    decide(row, RowVerdict::not_comparable, Reason::context_differs,
           fmt::format("{}", fmt::join(parts, "; ")));
}

/// " (cannot open the device)", " (…, and 2 other errors)"; "" where the side does not say why.
std::string why_text(const Series& side) {
    constexpr std::size_t longest = 100;
    if (side.errors.empty()) return {};
    const std::size_t more = side.errors.size() - 1;
    return fmt::format(" ({}{})", report::shortened(side.errors.front(), longest),
                       more == 0   ? ""
                       : more == 1 ? ", and another error"
                                   : fmt::format(", and {} other errors", more));
}

/// "the only sample of B", "all 3 samples of B"
std::string all_samples(int n, const char* name) {
    return n == 1 ? fmt::format("the only sample of {}", name)
                  : fmt::format("all {} samples of {}", n, name);
}

std::string how_it_failed(const Series& side, const char* name) {
    if (side.excluded == 0) return all_samples(side.failed, name) + " failed" + why_text(side);
    return fmt::format("of the {} samples of {}, {} failed and {} were marked invalid{}",
                       side.failed + side.excluded, name, side.failed, side.excluded,
                       why_text(side));
}

/// Of what one side has alone: why there is no value of it; "" where there are some.
std::string why_empty(const Series& side, const char* name) {
    return side.points.empty() && side.failed > 0 ? how_it_failed(side, name) : "";
}

/// Both sides without a single value, and both failed. False: something else.
bool decide_failed_before(Row& row, const Series& a, const Series& b) {
    if (!a.points.empty() || !b.points.empty() || a.failed == 0 || b.failed == 0) return false;
    decide(row, RowVerdict::failed_before, Reason::all_failed,
           how_it_failed(b, "B") + ", and so it was before: " + how_it_failed(a, "A"));
    return true;
}

/// A side without a single value. False: it has some.
bool decide_empty(Row& row, const Series& side, const char* name) {
    if (!side.points.empty()) return false;
    const bool both_aggregates = row.a->aggregates_only && row.b->aggregates_only;
    if (side.failed > 0)
        // Where A is the one that failed, nothing became worse.
        decide(row, name[0] == 'B' ? RowVerdict::failed : RowVerdict::not_comparable,
               Reason::all_failed, how_it_failed(side, name));
    else if (side.aggregates_only)
        decide(row, RowVerdict::not_comparable, Reason::aggregates_only,
               fmt::format("in {}, {}", both_aggregates ? "A and B" : name, aggregates_reason));
    else if (side.excluded > 0)
        decide(row, RowVerdict::not_comparable, Reason::all_excluded,
               fmt::format("{} {} skipped or marked invalid{}", all_samples(side.excluded, name),
                           side.excluded == 1 ? "was" : "were", why_text(side)));
    else
        decide(row, RowVerdict::not_comparable,
               name[0] == 'A' ? Reason::only_in_b : Reason::only_in_a);
    return true;
}

/// What a reader of any row with values must know besides: values that did not count, an interval
/// that promises less than asked, context that one side does not tell.
std::string notes(const Row& row, const Options& options) {
    std::string text;
    for (const auto& [side, name] : {std::pair(row.a, "A"), std::pair(row.b, "B")}) {
        if (side->failed > 0)
            text += fmt::format("; {} failed in {}{}", side->failed, name, why_text(*side));
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

bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void fill_ratios(Row& row, const Pairs& pairs) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < pairs.a.size(); ++i) {
        const double ratio = equal(pairs.a[i], pairs.b[i]) ? 1 : pairs.b[i] / pairs.a[i];
        if (!std::isfinite(ratio) || ratio <= 0) return;  // no ratio; the verdict needs none
        ratios.push_back(ratio);
    }
    row.ratio = statistics::median(ratios);
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    row.low = *low;
    row.high = *high;
}

/// A deterministic metric with at least one common pair: there is no noise, so every difference is
/// a change. Fills in everything but the names; `low` and `high` are the smallest and largest
/// ratio.
void judge_exactly(Row& row, const Pairs& pairs) {
    row.paired = true;
    row.n_a = row.n_b = static_cast<int>(pairs.a.size());
    fill_ratios(row, pairs);
    int above = 0, below = 0, incomparable = 0;
    for (std::size_t i = 0; i < pairs.a.size(); ++i) {
        if (equal(pairs.a[i], pairs.b[i])) continue;
        if (pairs.b[i] > pairs.a[i])
            ++above;
        else if (pairs.b[i] < pairs.a[i])
            ++below;
        else
            ++incomparable;  // NaN on one side
    }
    const int changed = above + below + incomparable;
    if (changed == 0)
        return decide(row, RowVerdict::same, Reason::identical,
                      fmt::format("deterministic, equal in {} of {} pairs", row.n_a, row.n_a));
    const std::string text = fmt::format(
        "deterministic, {} of {} pairs differ: {} larger in B, {} "
        "smaller{}",
        changed, row.n_a, above, below, incomparable ? ", the rest not a number on one side" : "");
    if (incomparable > 0 || (above > 0 && below > 0))
        return decide(row, RowVerdict::ambiguous, Reason::changed, text);
    const RowVerdict verdict = by_direction(row.better, above > 0);
    decide(row, verdict, verdict == RowVerdict::ambiguous ? Reason::no_direction : Reason::changed,
           text);
}

}  // namespace

void decide(Row& row, RowVerdict verdict, Reason reason, const std::string& detail) {
    row.verdict = verdict;
    row.reason_code = reason;
    row.reason = std::string(to_string(reason)) + (detail.empty() ? "" : ": " + detail);
}

RowVerdict by_direction(Direction better, bool above) {
    if (better == Direction::none) return RowVerdict::ambiguous;
    return (better == Direction::higher) == above ? RowVerdict::faster : RowVerdict::slower;
}

Row judge(const Match& match, const Options& options) {
    Row row = unjudged(match, options);
    if (match.b == nullptr)
        decide(row, RowVerdict::not_comparable, Reason::only_in_a, why_empty(*match.a, "A"));
    else if (match.a == nullptr)
        decide(row, RowVerdict::not_comparable, Reason::only_in_b, why_empty(*match.b, "B"));
    else if (!match.differs.empty())
        decide_context(row, match, options);
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
