#include "impls/lte/claims/latency_nearly_linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "suite/claim/quantity.hpp"
#include "suite/claim/seed_interval.hpp"

namespace assay::lte {
namespace {

using Curve = std::map<double, double>;  // share of the dense latency over sparsity

/// By what the claim leaves open, and by seed.
std::map<Case, std::map<std::uint64_t, Curve>> curves(const Claim& claim,
                                                      std::span<const Observation> observations) {
    std::map<Case, std::map<std::uint64_t, std::map<double, std::vector<double>>>> speedups;
    for (const Observation& o : observations) {
        const Value* sparsity = coordinate(o, "sparsity");
        if (o.metric != claim.metric || !sparsity || !is_selected(claim, o)) continue;
        Case open = o.axes;
        open.erase("sparsity");
        speedups[open][o.seed][as_number(*sparsity).value_or(std::nan(""))].push_back(o.value);
    }
    std::map<Case, std::map<std::uint64_t, Curve>> found;
    for (const auto& [at, seeds] : speedups)
        for (const auto& [seed, points] : seeds)
            for (const auto& [sparsity, values] : points)
                found[at][seed][sparsity] = 1 / mean(values);
    return found;
}

/// Largest distance of a point from the least-squares line.
double off_the_line(const Curve& curve) {
    const auto n = static_cast<double>(curve.size());
    double x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& [sparsity, latency] : curve) {
        x += sparsity;
        y += latency;
        xx += sparsity * sparsity;
        xy += sparsity * latency;
    }
    const double slope = (n * xy - x * y) / (n * xx - x * x), start = (y - slope * x) / n;
    double furthest = 0;
    for (const auto& [sparsity, latency] : curve)
        furthest = std::max(furthest, std::abs(latency - start - slope * sparsity));
    return furthest;
}

/// Of one case; nothing where its points say too little of a line.
struct Line {
    SeedInterval off;
    bool falls = true;
    std::string where;
    Standing standing() const { return falls ? off.standing : Standing::fails; }
};

std::optional<Line> line_of(const std::map<std::uint64_t, Curve>& seeds, double near_enough,
                            std::size_t seeds_wanted, std::size_t cases) {
    std::set<double> sparsities;
    for (const auto& [seed, curve] : seeds)
        for (const auto& [sparsity, latency] : curve) sparsities.insert(sparsity);
    Line line;
    SeedValues off;
    for (const auto& [seed, curve] : seeds) {
        if (curve.size() < sparsities.size()) continue;
        off.add(off_the_line(curve));
        line.falls = line.falls && curve.rbegin()->second < curve.begin()->second;
    }
    if (sparsities.size() < 4 || off.low.empty()) return std::nullopt;
    line.off = seed_interval(off, {.high = near_enough}, seeds_wanted, cases);
    return line;
}

}  // namespace

ClaimCheck latency_nearly_linear(const Claim& claim, std::span<const Observation> observations) {
    const double near_enough = claim.absolute.value_or(0.05);
    const auto cases = curves(claim, observations);
    ClaimCheck check{.claim = claim.id, .verdict = ClaimVerdict::not_run, .reason = {}};
    std::optional<Line> worst;
    for (const auto& [at, seeds] : cases) {
        std::optional<Line> line = line_of(seeds, near_enough, claim.test.seeds, cases.size());
        if (!line) return check;
        line->where = at.empty() ? "" : " at " + to_string(at);
        if (!worst || std::tuple(line->standing(), line->off.slack) <
                          std::tuple(worst->standing(), worst->off.slack))
            worst = std::move(line);
    }
    if (!worst) return check;
    const SeedInterval& off = worst->off;
    check.verdict = worst->standing() == Standing::holds   ? ClaimVerdict::supported
                    : worst->standing() == Standing::fails ? ClaimVerdict::contradicted
                                                           : ClaimVerdict::undecided;
    check.obtained = off.mean;
    check.reason = fmt::format(
        "over sparsity the latency {}, at most {:.3g} ({:.3g} to {:.3g}, 95 % over {} seeds{}) of "
        "the dense latency away from a straight line{}; up to {:.3g} counts as nearly linear",
        worst->falls ? "falls" : "does not fall", off.mean, off.low, off.high, off.seeds,
        off.few ? fmt::format("; {} are wanted", claim.test.seeds) : "", worst->where, near_enough);
    return check;
}

}  // namespace assay::lte
