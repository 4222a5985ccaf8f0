#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "impls/lte/claims/claim_checks.hpp"
#include "suite/claim/quantity.hpp"

namespace assay::lte {

LossBounds loss_at(std::vector<QualityPoint> points, double sparsity) {
    if (points.empty()) throw std::invalid_argument("a method without a measurement");
    std::sort(points.begin(), points.end(),
              [](const QualityPoint& a, const QualityPoint& b) { return a.sparsity < b.sparsity; });
    const QualityPoint &first = points.front(), &last = points.back();
    constexpr double unknown = std::numeric_limits<double>::infinity();
    if (sparsity < first.sparsity - equal_sparsity) return {-unknown, first.loss};
    if (sparsity > last.sparsity + equal_sparsity) return {last.loss, unknown};
    if (sparsity <= first.sparsity) return {first.loss, first.loss};
    if (sparsity >= last.sparsity) return {last.loss, last.loss};
    const auto above = std::find_if(points.begin(), points.end(), [&](const QualityPoint& point) {
        return point.sparsity >= sparsity;
    });
    const QualityPoint &left = *(above - 1), &right = *above;
    const double share = (sparsity - left.sparsity) / (right.sparsity - left.sparsity);
    const double loss = left.loss + share * (right.loss - left.loss);
    return {loss, loss};
}

// Which of two methods loses less at equal measured sparsity.

namespace {

/// One sample: what was asked for, and what came of it.
struct Point {
    Value asked;
    QualityPoint quality;
};
/// By seed. Only the points of one seed are compared: they start from the same dense model.
using Curves = std::map<std::uint64_t, std::vector<Point>>;
struct Contest {
    Curves of, over;
};

/// Axes that neither selector fixes; the one that is walked along is left out.
Case open_axes(const Claim& claim, const Observation& observation) {
    Case open;
    for (const auto& [name, value] : observation.axes)
        if (name != "sparsity" && !claim.of.where.count(name) &&
            !(claim.over && claim.over->where.count(name)))
            open[name] = value;
    return open;
}

std::map<Case, Contest> contests(const Claim& claim, std::span<const Observation> observations) {
    // Perplexity and sparsity of a sample arrive as two observations.
    std::map<std::string, double> sparsity_of_sample;
    for (const Observation& o : observations)
        if (o.metric == "ffn_sparsity") sparsity_of_sample[o.sample] = o.value;
    std::map<Case, Contest> found;
    for (const Observation& o : observations) {
        const auto sparsity = sparsity_of_sample.find(o.sample);
        const Value* asked = coordinate(o, "sparsity");
        if (o.metric != claim.metric || sparsity == sparsity_of_sample.end() || !asked) continue;
        const bool of = selects(claim.of, o), over = claim.over && selects(*claim.over, o);
        if (!of && !over) continue;
        Contest& contest = found[open_axes(claim, o)];
        const Point point{*asked, {sparsity->second, std::log(o.value)}};
        if (of) contest.of[o.seed].push_back(point);
        if (over) contest.over[o.seed].push_back(point);
    }
    return found;
}

std::vector<QualityPoint> qualities(const std::vector<Point>& points) {
    std::vector<QualityPoint> list;
    for (const Point& point : points) list.push_back(point.quality);
    return list;
}

/// Bounds of loss(of) − loss(over) at one point of either curve, gathered over seeds.
struct Differences {
    std::vector<double> low, high;
};
using ByPoint = std::map<std::pair<Value, bool>, Differences>;  // asked for, by which side

ByPoint differences(const Contest& contest) {
    ByPoint found;
    for (const auto& [seed, of] : contest.of) {
        const auto over = contest.over.find(seed);
        if (over == contest.over.end()) continue;
        for (const Point& point : of) {
            const LossBounds other = loss_at(qualities(over->second), point.quality.sparsity);
            found[{point.asked, true}].low.push_back(point.quality.loss - other.high);
            found[{point.asked, true}].high.push_back(point.quality.loss - other.low);
        }
        for (const Point& point : over->second) {
            const LossBounds own = loss_at(qualities(of), point.quality.sparsity);
            found[{point.asked, false}].low.push_back(own.low - point.quality.loss);
            found[{point.asked, false}].high.push_back(own.high - point.quality.loss);
        }
    }
    return found;
}

enum class Wanted { better, alike, no_better };

/// The middle of bounds, some of which may be infinite: never an average of two infinities.
double middle(std::vector<double> values, bool lower) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double a = values[values.size() % 2 ? half : half - 1], b = values[half];
    if (std::isinf(a) || std::isinf(b)) return lower ? a : b;
    return (a + b) / 2;
}

/// Whether a difference between the bounds is what is wanted; nothing when they do not tell.
std::optional<bool> holds(Wanted wanted, double low, double high, double margin) {
    switch (wanted) {
        case Wanted::better:
            if (high < margin) return true;
            return low >= margin ? std::optional(false) : std::nullopt;
        case Wanted::no_better:
            if (low >= -margin) return true;
            return high < -margin ? std::optional(false) : std::nullopt;
        case Wanted::alike:
            if (low >= -margin && high <= margin) return true;
            return low > margin || high < -margin ? std::optional(false) : std::nullopt;
    }
    return std::nullopt;
}

/// The finite bound that speaks least for what is wanted.
double telling(Wanted wanted, double low, double high) {
    if (wanted == Wanted::alike) {
        if (std::isinf(low) || std::isinf(high)) return std::isinf(low) ? high : low;
        return std::abs(low) > std::abs(high) ? low : high;
    }
    const double worst = wanted == Wanted::better ? high : low;
    return std::isinf(worst) ? (wanted == Wanted::better ? low : high) : worst;
}

struct Worst {
    double difference = 0;
    bool holds = true;
    std::string where;
};

ClaimCheck at_equal_sparsity(const Claim& claim, std::span<const Observation> observations,
                             Wanted wanted) {
    const double margin = std::log1p(claim.relative.value_or(0));
    std::optional<Worst> worst;
    int known = 0, all = 0;
    for (const auto& [at, contest] : contests(claim, observations)) {
        bool compared = false;
        for (const auto& [point, found] : differences(contest)) {
            const double low = middle(found.low, true), high = middle(found.high, false);
            const auto outcome = holds(wanted, low, high, margin);
            ++all;
            if (!outcome) continue;
            ++known;
            compared = true;
            const double difference = telling(wanted, low, high);
            const bool less_favourable =
                !worst || (worst->holds && !*outcome) ||
                (worst->holds == *outcome &&
                 (wanted == Wanted::better ? difference > worst->difference
                  : wanted == Wanted::no_better
                      ? difference < worst->difference
                      : std::abs(difference) > std::abs(worst->difference)));
            if (less_favourable)
                worst = {difference, *outcome,
                         fmt::format("{}{}sparsity={}", to_string(at), at.empty() ? "" : " ",
                                     to_string(point.first))};
        }
        if (!compared)
            return not_run_yet(claim, fmt::format("{}: no two measured sparsities can be compared",
                                                  at.empty() ? "as it stands" : to_string(at)));
    }
    if (!worst) return not_run_yet(claim, "one side has not been measured yet");
    const double ratio = std::exp(worst->difference);
    return verdict_of(
        claim, worst->holds, ratio,
        fmt::format("at equal measured sparsity {} is {:.4g} times that of the other side where "
                    "that is least favourable ({}); {} of {} points tell, interpolated or bounded "
                    "by monotony",
                    claim.metric, ratio, worst->where, known, all));
}

}  // namespace

ClaimCheck better_at_equal_sparsity(const Claim& claim, std::span<const Observation> observations) {
    return at_equal_sparsity(claim, observations, Wanted::better);
}

ClaimCheck alike_at_equal_sparsity(const Claim& claim, std::span<const Observation> observations) {
    return at_equal_sparsity(claim, observations, Wanted::alike);
}

ClaimCheck no_better_at_equal_sparsity(const Claim& claim,
                                       std::span<const Observation> observations) {
    return at_equal_sparsity(claim, observations, Wanted::no_better);
}

}  // namespace assay::lte
