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
#include "suite/measure/statistics/mean_interval.hpp"

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

/// What two methods are made equal in: a metric that grows with what is left out.
struct Abscissa {
    const char* metric;
    const char* called;
};
constexpr Abscissa measured_sparsity{"ffn_sparsity", "measured sparsity"};
constexpr Abscissa saved_latency{"latency_saved", "share of the dense latency saved"};

std::map<Case, Contest> contests(const Claim& claim, std::span<const Observation> observations,
                                 const Abscissa& equal) {
    // Perplexity and sparsity of a sample arrive as two observations.
    std::map<std::string, double> sparsity_of_sample;
    for (const Observation& o : observations)
        if (o.metric == equal.metric) sparsity_of_sample[o.sample] = o.value;
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

/// Bounds of loss(of) − loss(over) at one point of either curve, by seed.
struct Differences {
    std::vector<double> low, high;
};
using ByPoint = std::map<std::pair<Value, bool>, Differences>;  // asked for, by which side

ByPoint differences(const Contest& contest) {
    ByPoint found;
    for (const auto& [seed, of] : contest.of) {
        const auto over = contest.over.find(seed);
        if (over == contest.over.end()) continue;
        ByPoint of_seed;
        for (const Point& point : of) {
            const LossBounds other = loss_at(qualities(over->second), point.quality.sparsity);
            of_seed[{point.asked, true}].low.push_back(point.quality.loss - other.high);
            of_seed[{point.asked, true}].high.push_back(point.quality.loss - other.low);
        }
        for (const Point& point : over->second) {
            const LossBounds own = loss_at(qualities(of), point.quality.sparsity);
            of_seed[{point.asked, false}].low.push_back(own.low - point.quality.loss);
            of_seed[{point.asked, false}].high.push_back(own.high - point.quality.loss);
        }
        // A seed that was run twice is one seed.
        for (const auto& [point, bounds] : of_seed) {
            found[point].low.push_back(mean_of(bounds.low));
            found[point].high.push_back(mean_of(bounds.high));
        }
    }
    return found;
}

enum class Wanted { better, alike, no_better };

constexpr double unknown = std::numeric_limits<double>::infinity();

/// The mean difference over seeds, between the ends of its interval; infinite on a side where a
/// seed tells nothing.
struct Interval {
    double low = -unknown, high = unknown;
    double mean = 0;  ///< of the bounds that speak least for what is wanted, or of those known
    std::size_t seeds = 0;
    bool known() const { return seeds > 1 && (std::isfinite(low) || std::isfinite(high)); }
    bool closed() const { return std::isfinite(low) && std::isfinite(high); }
};

Interval interval_of(const Differences& found, Wanted wanted) {
    const auto told = [](const std::vector<double>& bounds) {
        return std::none_of(bounds.begin(), bounds.end(), [](double b) { return std::isinf(b); })
                   ? statistics::mean_interval(bounds)
                   : std::nullopt;
    };
    const auto low = told(found.low), high = told(found.high);
    Interval interval{.seeds = found.low.size()};
    if (low) interval.low = low->low;
    if (high) interval.high = high->high;
    const auto& speaks = (wanted == Wanted::no_better && low) || !high ? low : high;
    if (speaks) interval.mean = speaks->mean;
    return interval;
}

Outcome outcome_of(Wanted wanted, const Interval& at, double margin) {
    const Outcome otherwise = at.closed() ? Outcome::spans : Outcome::untold;
    switch (wanted) {
        case Wanted::better:
            return at.high < margin   ? Outcome::holds
                   : at.low >= margin ? Outcome::fails
                                      : otherwise;
        case Wanted::no_better:
            return at.low >= -margin   ? Outcome::holds
                   : at.high < -margin ? Outcome::fails
                                       : otherwise;
        case Wanted::alike:
            return at.low >= -margin && at.high <= margin ? Outcome::holds
                   : at.low > margin || at.high < -margin ? Outcome::fails
                                                          : otherwise;
    }
    return otherwise;
}

/// The larger, the less it speaks for what is wanted.
double against(Wanted wanted, double difference) {
    return wanted == Wanted::better      ? difference
           : wanted == Wanted::no_better ? -difference
                                         : std::abs(difference);
}

struct Worst {
    Interval at;
    Standing standing;
    std::string where;
};

std::string ratios(const Interval& at) {
    const auto end = [](double difference) {
        return std::isinf(difference) ? std::string("unknown")
                                      : fmt::format("{:.4g}", std::exp(difference));
    };
    return fmt::format("{:.4g} ({} to {}, 95 %, {} seeds in pairs)", std::exp(at.mean), end(at.low),
                       end(at.high), at.seeds);
}

ClaimCheck at_equal(const Abscissa& equal, const Claim& claim,
                    std::span<const Observation> observations, Wanted wanted) {
    const double margin = std::log1p(claim.relative.value_or(0));
    std::optional<Worst> worst;
    int known = 0, all = 0;
    for (const auto& [at, contest] : contests(claim, observations, equal)) {
        bool compared = false, few_seeds = false;
        for (const auto& [point, found] : differences(contest)) {
            const Interval interval = interval_of(found, wanted);
            ++all;
            few_seeds = few_seeds || interval.seeds < 2;
            if (!interval.known()) continue;
            Worst here{interval,
                       {outcome_of(wanted, interval, margin), -against(wanted, interval.mean)},
                       fmt::format("{}{}sparsity={}", to_string(at), at.empty() ? "" : " ",
                                   to_string(point.first))};
            if (here.standing.outcome == Outcome::untold) continue;
            ++known;
            compared = true;
            if (!worst || here.standing < worst->standing) worst = std::move(here);
        }
        if (!compared)
            return not_run_yet(
                claim,
                fmt::format(
                    "{}: {}", at.empty() ? "as it stands" : to_string(at),
                    few_seeds ? std::string("an interval needs two seeds of both sides")
                              : fmt::format("no two points of {} can be compared", equal.called)));
    }
    if (!worst) return not_run_yet(claim, "one side has not been measured yet");
    auto check = verdict_of(
        claim, worst->standing.outcome == Outcome::holds, std::exp(worst->at.mean),
        fmt::format("at equal {} {} is {} times that of the other side where that is least "
                    "favourable ({}); {} of {} points tell, interpolated or bounded by monotony",
                    equal.called, claim.metric, ratios(worst->at), worst->where, known, all));
    if (worst->standing.outcome == Outcome::spans) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason += fmt::format("; interval spans the margin ({:.4g})",
                                    std::exp(wanted == Wanted::no_better ? -margin : margin));
    }
    return check;
}

}  // namespace

ClaimCheck better_at_equal_sparsity(const Claim& claim, std::span<const Observation> observations) {
    return at_equal(measured_sparsity, claim, observations, Wanted::better);
}

ClaimCheck better_at_equal_latency(const Claim& claim, std::span<const Observation> observations) {
    return at_equal(saved_latency, claim, observations, Wanted::better);
}

ClaimCheck alike_at_equal_sparsity(const Claim& claim, std::span<const Observation> observations) {
    return at_equal(measured_sparsity, claim, observations, Wanted::alike);
}

ClaimCheck no_better_at_equal_sparsity(const Claim& claim,
                                       std::span<const Observation> observations) {
    return at_equal(measured_sparsity, claim, observations, Wanted::no_better);
}

}  // namespace assay::lte
