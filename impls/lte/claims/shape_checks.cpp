// Shapes of curves: nearly linear, sub-linear, uneven.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "impls/lte/claims/claim_checks.hpp"
#include "suite/claim/quantity.hpp"

namespace assay::lte {
namespace {

double number(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nan("");
}

struct Place {
    double x = 0, y = 0;    ///< y: median over samples
    double mean = 0;        ///< of them
    double spread = 0;      ///< over samples, largest less smallest
    std::size_t seeds = 0;  ///< different ones among the samples
};
using Curve = std::vector<Place>;

/// The claimed metric over an axis or label, a curve for each case that the selector leaves open.
std::map<Case, Curve> curves(const Claim& claim, std::span<const Observation> observations,
                             std::string_view along) {
    std::map<Case, std::map<double, std::vector<double>>> values;
    std::map<Case, std::map<double, std::set<std::uint64_t>>> seeds;
    for (const Observation& o : observations) {
        const Value* x = coordinate(o, along);
        if (o.metric != claim.metric || !x || !selects(claim.of, o)) continue;
        Case open = o.axes;
        open.erase(std::string(along));
        values[open][number(*x)].push_back(o.value);
        seeds[open][number(*x)].insert(o.seed);
    }
    std::map<Case, Curve> found;
    for (auto& [at, points] : values)
        for (auto& [x, samples] : points) {
            const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
            const double spread = *high - *low;
            const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) /
                                static_cast<double>(samples.size());
            found[at].push_back({x, median(samples), mean, spread, seeds[at][x].size()});
        }
    return found;
}

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
    constexpr double near_enough = 0.05;
    double furthest = 0;
    std::string where;
    bool any = false, falls = true;
    for (auto [at, curve] : curves(claim, observations, "sparsity")) {
        if (curve.size() < 4) return not_run_yet(claim, "fewer than four sparsities" + place(at));
        for (Place& p : curve) p.y = 1 / p.y;  // speedup is dense over own latency
        const double off = off_the_line(curve);
        if (!any || off > furthest) {
            furthest = off;
            where = place(at);
        }
        any = true;
        falls = falls && curve.back().y < curve.front().y;
    }
    if (!any) return not_run_yet(claim, "no latency has been measured");
    return verdict_of(
        claim, falls && furthest <= claim.absolute.value_or(near_enough), furthest,
        fmt::format("over sparsity the latency {}, at most {:.3g} of the dense latency away from a "
                    "straight line{}; up to {:.3g} counts as nearly linear",
                    falls ? "falls" : "does not fall", furthest, where,
                    claim.absolute.value_or(near_enough)));
}

// Obtained: the share of sparsities at which it is slower.
ClaimCheck mostly_slower(const Claim& claim, std::span<const Observation> observations) {
    double least = 1;
    std::string where;
    bool any = false;
    for (const auto& [at, curve] : curves(claim, observations, "sparsity")) {
        const auto slower =
            std::count_if(curve.begin(), curve.end(), [](const Place& p) { return p.y < 1; });
        const double share = static_cast<double>(slower) / static_cast<double>(curve.size());
        if (!any || share < least) {
            least = share;
            where = place(at);
        }
        any = true;
    }
    if (!any) return not_run_yet(claim, "nothing has been timed");
    return verdict_of(
        claim, least > 0.5, least,
        fmt::format("slower than dense at {:.0f} % of the sparsities{}", 100 * least, where));
}

// Obtained: the largest ratio, over batches above 1, of what is active to what would be if experts
// were independent and alike: 1 - (1 - active)^batch, `active` being a single token's share. That
// curve bends by itself, so that bending alone says nothing about the model. Of several models the
// mean is judged: that of curves which bend does so too, while their median need not.
ClaimCheck grows_sublinearly(const Claim& claim, std::span<const Observation> observations) {
    constexpr double rounding = 1e-9;
    constexpr double noticeable = 0.01;  // equally often active experts would miss it
    double worst = 0, worst_batch = 0;
    std::string where;
    bool any = false, bends = true;
    for (const auto& [at, curve] : curves(claim, observations, "batch")) {
        if (curve.size() < 3) return not_run_yet(claim, "fewer than three batches" + place(at));
        if (curve.front().x != 1) return not_run_yet(claim, "no batch of 1" + place(at));
        const double idle = curve.front().mean;
        double last_rise = 0;
        for (std::size_t i = 1; i < curve.size(); ++i) {
            // Active share gained per token added to the batch.
            const double rise = (curve[i - 1].mean - curve[i].mean) / (curve[i].x - curve[i - 1].x);
            bends = bends && rise >= 0 && (i == 1 || rise <= last_rise + rounding);
            last_rise = rise;
            const double independent = 1 - std::pow(idle, curve[i].x);
            const double ratio = independent > 0 ? (1 - curve[i].mean) / independent : 1;
            if (!any || ratio > worst) {
                worst = ratio;
                worst_batch = curve[i].x;
                where = place(at);
            }
            any = true;
        }
    }
    if (!any) return not_run_yet(claim, "no batch has been measured");
    return verdict_of(
        claim, bends && worst < 1 - noticeable, worst,
        fmt::format("a batch of {:.0f} activates {:.4g} of what experts that are independent and "
                    "equally often active would{}, the largest such ratio; each further token adds "
                    "{}",
                    worst_batch, worst, where, bends ? "less" : "not always less"));
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
            if (p.seeds < 2) return not_run_yet(claim, "fewer than two seeds" + place(at));
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
