// Metrics that a seed determines: there is no noise, so every difference is a change.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/compare/judge.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::compare {
namespace {

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

}  // namespace

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
        return decide(row, Verdict::same, Reason::identical,
                      fmt::format("deterministic, equal in {} of {} pairs", row.n_a, row.n_a));
    const std::string text = fmt::format(
        "deterministic, {} of {} pairs differ: {} larger in B, {} "
        "smaller{}",
        changed, row.n_a, above, below, incomparable ? ", the rest not a number on one side" : "");
    if (incomparable > 0 || (above > 0 && below > 0))
        return decide(row, Verdict::ambiguous, Reason::changed, text);
    const Verdict verdict = by_direction(row.better, above > 0);
    decide(row, verdict, verdict == Verdict::ambiguous ? Reason::no_direction : Reason::changed,
           text);
}

}  // namespace assay::compare
