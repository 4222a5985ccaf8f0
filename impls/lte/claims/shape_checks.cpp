// Shapes of curves: nearly linear, mostly below, sub-linear, uneven.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "impls/lte/claims/claim_checks.hpp"
#include "suite/claim/quantity.hpp"
#include "suite/measure/statistics/mean_interval.hpp"

namespace assay::lte {
namespace {

double number(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nan("");
}

struct Place {
    double x = 0, y = 0;                      ///< y: median over samples
    double spread = 0;                        ///< over samples, largest less smallest
    std::map<std::uint64_t, double> by_seed;  ///< mean of each seed's samples
};
using Curve = std::vector<Place>;

/// The claimed metric over an axis or label, a curve for each case that the selector leaves open.
std::map<Case, Curve> curves(const Claim& claim, std::span<const Observation> observations,
                             std::string_view along) {
    std::map<Case, std::map<double, std::map<std::uint64_t, std::vector<double>>>> values;
    for (const Observation& o : observations) {
        const Value* x = coordinate(o, along);
        if (o.metric != claim.metric || !x || !selects(claim.of, o)) continue;
        Case open = o.axes;
        open.erase(std::string(along));
        values[open][number(*x)][o.seed].push_back(o.value);
    }
    std::map<Case, Curve> found;
    for (const auto& [at, points] : values)
        for (const auto& [x, seeds] : points) {
            std::vector<double> samples;
            std::map<std::uint64_t, double> by_seed;
            for (const auto& [seed, of_seed] : seeds) {
                samples.insert(samples.end(), of_seed.begin(), of_seed.end());
                by_seed[seed] = mean_of(of_seed);
            }
            const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
            const double spread = *high - *low;
            found[at].push_back({x, median(samples), spread, std::move(by_seed)});
        }
    return found;
}

const std::string two_seeds = "an interval needs two seeds";

std::string place(const Case& at) { return at.empty() ? "" : " at " + to_string(at); }

/// Largest distance of a point from the least-squares line.
double off_the_line(const Curve& curve) {
    const auto n = static_cast<double>(curve.size());
    double x = 0, y = 0, xx = 0, xy = 0;
    for (const Place& p : curve) {
        x += p.x;
        y += p.y;
        xx += p.x * p.x;
        xy += p.x * p.y;
    }
    const double slope = (n * xy - x * y) / (n * xx - x * x), start = (y - slope * x) / n;
    double furthest = 0;
    for (const Place& p : curve) furthest = std::max(furthest, std::abs(p.y - start - slope * p.x));
    return furthest;
}

}  // namespace

// Obtained: the furthest point, in shares of the dense latency.
ClaimCheck latency_nearly_linear(const Claim& claim, std::span<const Observation> observations) {
    const double near_enough = claim.absolute.value_or(0.05);
    std::optional<statistics::MeanInterval> furthest;
    std::string where;
    bool falls = true;
    for (const auto& [at, curve] : curves(claim, observations, "sparsity")) {
        if (curve.size() < 4) return not_run_yet(claim, "fewer than four sparsities" + place(at));
        std::vector<double> off;
        for (const auto& [seed, first] : curve.front().by_seed) {
            Curve of_seed;  // speedup is dense over own latency
            for (const Place& p : curve)
                if (const auto found = p.by_seed.find(seed); found != p.by_seed.end())
                    of_seed.push_back({p.x, 1 / found->second, 0, {}});
            if (of_seed.size() < curve.size()) continue;
            off.push_back(off_the_line(of_seed));
            falls = falls && of_seed.back().y < of_seed.front().y;
        }
        const auto here = statistics::mean_interval(off);
        if (!here) return not_run_yet(claim, two_seeds + place(at));
        if (furthest &&
            !(standing_at_most(*here, near_enough) < standing_at_most(*furthest, near_enough)))
            continue;
        furthest = here;
        where = place(at);
    }
    if (!furthest) return not_run_yet(claim, "no latency has been measured");
    const auto& [mean, low, high] = *furthest;
    auto check = verdict_of(
        claim, falls && high <= near_enough, mean,
        fmt::format("over sparsity the latency {}, at most {:.3g} ({:.3g} to {:.3g}, 95 % over "
                    "seeds) of the dense latency away from a straight line{}; up to {:.3g} counts "
                    "as nearly linear",
                    falls ? "falls" : "does not fall", mean, low, high, where, near_enough));
    if (falls && low <= near_enough && high > near_enough) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason += "; interval spans the margin";
    }
    return check;
}

// Obtained: the least share of sparsities at which it is slower.
ClaimCheck mostly_slower(const Claim& claim, std::span<const Observation> observations) {
    struct Share {
        double surely = 0, perhaps = 0;  // slower
        Standing standing;
        std::string where;
    };
    std::optional<Share> worst;
    for (const auto& [at, curve] : curves(claim, observations, "sparsity")) {
        double slower = 0, open = 0;
        for (const Place& p : curve) {
            std::vector<double> speedups;
            for (const auto& [seed, value] : p.by_seed) speedups.push_back(value);
            const auto speedup = statistics::mean_interval(speedups);
            if (!speedup) return not_run_yet(claim, two_seeds + place(at));
            (speedup->high < 1 ? slower : open) += speedup->low < 1;
        }
        const auto all = static_cast<double>(curve.size());
        Share here{slower / all, (slower + open) / all, {}, place(at)};
        here.standing = {here.surely > 0.5    ? Outcome::holds
                         : here.perhaps > 0.5 ? Outcome::spans
                                              : Outcome::fails,
                         here.surely};
        if (!worst || here.standing < worst->standing) worst = std::move(here);
    }
    if (!worst) return not_run_yet(claim, "nothing has been timed");
    auto check = verdict_of(claim, worst->standing.outcome == Outcome::holds, worst->surely,
                            fmt::format("slower than dense at {:.0f} % of the sparsities{}, 95 % "
                                        "over seeds",
                                        100 * worst->surely, worst->where));
    if (worst->standing.outcome == Outcome::spans) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason +=
            fmt::format(", perhaps at {:.0f} %; interval spans the margin", 100 * worst->perhaps);
    }
    return check;
}

// Obtained: at the largest batch, the ratio of what is active to what would be if experts were
// independent and equally often active: 1 - (1 - active)^batch, `active` being a single token's
// share. That a union grows by less per token the larger it is follows from tokens being drawn at
// random, and that the ratio is below 1 from experts being used unequally, however little: what can
// fail is that it is below the claim's value.
ClaimCheck grows_sublinearly(const Claim& claim, std::span<const Observation> observations) {
    const double most = claim.value.value_or(1);
    std::optional<statistics::MeanInterval> worst;
    double worst_batch = 0;
    std::string where;
    for (const auto& [at, curve] : curves(claim, observations, "batch")) {
        if (curve.size() < 2 || curve.front().x != 1)
            return not_run_yet(claim, "no batch of 1, or none above" + place(at));
        const Place &one = curve.front(), &largest = curve.back();
        std::vector<double> ratios;
        for (const auto& [seed, alone] : one.by_seed) {
            const auto together = largest.by_seed.find(seed);
            if (together == largest.by_seed.end()) continue;
            const double independent = 1 - std::pow(alone, largest.x);
            ratios.push_back(independent > 0 ? (1 - together->second) / independent : 1);
        }
        const auto ratio = statistics::mean_interval(ratios);
        if (!ratio) return not_run_yet(claim, two_seeds + place(at));
        if (worst && !(standing_at_most(*ratio, most) < standing_at_most(*worst, most))) continue;
        worst = ratio;
        worst_batch = largest.x;
        where = place(at);
    }
    if (!worst) return not_run_yet(claim, "no batch has been measured");
    auto check = verdict_of(
        claim, worst->high <= most, worst->mean,
        fmt::format("a batch of {:.0f} activates {:.3g} ({:.3g} to {:.3g}, 95 % over seeds) of "
                    "what experts that are independent and equally often active would{}, the "
                    "least favourable such ratio; at most {:.3g} is claimed",
                    worst_batch, worst->mean, worst->low, worst->high, where, most));
    if (standing_at_most(*worst, most).outcome == Outcome::spans) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason += "; interval spans the margin";
    }
    return check;
}

// Walks whose every step goes one way.

namespace {

/// By the name of a place on the walk, each seed's mean there.
using Walk = std::vector<std::pair<std::string, std::map<std::uint64_t, double>>>;

enum class Way { down, up };

/// Obtained: the least favourable step, later less earlier, paired over seeds.
ClaimCheck every_step(Way way, const Claim& claim, const std::map<Case, Walk>& walks) {
    const auto downwards = [way](const statistics::MeanInterval& change) {
        if (way == Way::down) return change;
        return statistics::MeanInterval{-change.mean, -change.high, -change.low};
    };
    struct Step {
        statistics::MeanInterval change;
        Standing standing;
        std::string where;
    };
    constexpr double below_zero = -std::numeric_limits<double>::min();  // what stays does not fall
    std::optional<Step> worst;
    for (const auto& [at, walk] : walks)
        for (std::size_t i = 0; i + 1 < walk.size(); ++i) {
            const auto& [from, before] = walk[i];
            const auto& [to, after] = walk[i + 1];
            std::vector<double> changes;
            for (const auto& [seed, value] : after)
                if (const auto earlier = before.find(seed); earlier != before.end())
                    changes.push_back(value - earlier->second);
            const auto change = statistics::mean_interval(changes);
            if (!change) return not_run_yet(claim, two_seeds + place(at));
            Step here{*change, standing_at_most(downwards(*change), below_zero),
                      fmt::format("from {} to {}{}", from, to, place(at))};
            if (!worst || here.standing < worst->standing) worst = std::move(here);
        }
    if (!worst) return not_run_yet(claim, "fewer than two places have been measured");
    const auto& [mean, low, high] = worst->change;
    auto check = verdict_of(claim, worst->standing.outcome == Outcome::holds, mean,
                            fmt::format("{} changes by {:.4g} ({:.4g} to {:.4g}, 95 %, paired over "
                                        "seeds) {}, the step that speaks least for it",
                                        claim.metric, mean, low, high, worst->where));
    if (worst->standing.outcome == Outcome::spans) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason += "; interval spans the margin";
    }
    return check;
}

ClaimCheck every_step_along(std::string_view along, Way way, const Claim& claim,
                            std::span<const Observation> observations) {
    std::map<Case, Walk> walks;
    for (const auto& [at, curve] : curves(claim, observations, along))
        for (const Place& p : curve)
            walks[at].emplace_back(fmt::format("{} {:.4g}", along, p.x), p.by_seed);
    return every_step(way, claim, walks);
}

}  // namespace

ClaimCheck falls_with_sparsity(const Claim& claim, std::span<const Observation> observations) {
    return every_step_along("sparsity", Way::down, claim, observations);
}

ClaimCheck falls_with_layer(const Claim& claim, std::span<const Observation> observations) {
    return every_step_along("layer", Way::down, claim, observations);
}

ClaimCheck rises_with_eta(const Claim& claim, std::span<const Observation> observations) {
    return every_step_along("eta", Way::up, claim, observations);
}

ClaimCheck freer_patterns_better(const Claim& claim, std::span<const Observation> observations) {
    const char* const patterns[] = {"wanda_2_4", "wanda_4_8", "wanda"};
    std::map<Case, Walk> walks;
    for (const char* const pattern : patterns) {
        std::map<Case, std::map<std::uint64_t, std::vector<double>>> found;
        for (const Observation& o : observations)
            if (o.metric == claim.metric && o.variant == pattern && selects(claim.of, o))
                found[o.axes][o.seed].push_back(o.value);
        for (const auto& [at, seeds] : found) {
            std::map<std::uint64_t, double> by_seed;
            for (const auto& [seed, values] : seeds) by_seed[seed] = mean_of(values);
            walks[at].emplace_back(pattern, std::move(by_seed));
        }
    }
    for (const auto& [at, walk] : walks)
        if (walk.size() < std::size(patterns))
            return not_run_yet(claim, "a pattern has not been measured" + place(at));
    return every_step(Way::down, claim, walks);
}

// Obtained: how much more layers differ than seeds do, a ratio.
ClaimCheck layers_differ(const Claim& claim, std::span<const Observation> observations) {
    double least = 0;
    std::string where;
    bool any = false;
    for (const auto& [at, curve] : curves(claim, observations, "layer")) {
        if (curve.size() < 2) return not_run_yet(claim, "fewer than two layers" + place(at));
        double low = curve.front().y, high = low, seeds = 0;
        for (const Place& p : curve) {
            if (p.by_seed.size() < 2) return not_run_yet(claim, "fewer than two seeds" + place(at));
            low = std::min(low, p.y);
            high = std::max(high, p.y);
            seeds = std::max(seeds, p.spread);
        }
        // Where seeds agree to a percent, a percent is what must be exceeded.
        const double ratio = (high - low) / std::max(seeds, 0.01);
        if (!any || ratio < least) {
            least = ratio;
            where = place(at);
        }
        any = true;
    }
    if (!any) return not_run_yet(claim, "no layer has been measured");
    return verdict_of(claim, least > 1, least,
                      fmt::format("between layers sparsity differs by {:.3g} times as much as a "
                                  "layer's does between seeds{}",
                                  least, where));
}

}  // namespace assay::lte
