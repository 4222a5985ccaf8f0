#include "impls/dr_post_training/policy/costs.hpp"

#include <algorithm>
#include <cmath>

namespace assay::dr_post_training {
namespace {

PerScoring flops_of(const LinearMap& map, const CostSettings& s) {
    const double o = map.out, i = map.in, t = s.tokens, a = s.compressed_out, b = s.compressed_in;
    const double gradients = 2 * (s.n + s.m) * t * o * i;
    return {gradients + 2 * s.n * o * i, s.n * s.m * t * t * (2 * o + 2 * i + 2),
            gradients + 2 * s.n * t * o,
            2 * (s.n + s.m) * t * (o * a + i * b + a * b) + 2 * s.n * a * b};
}

PerScoring elements_of(const LinearMap& map, const CostSettings& s) {
    const double o = map.out, i = map.in, t = s.tokens, a = s.compressed_out, b = s.compressed_in;
    return {(s.n + 1) * o * i, 2 * s.n * s.m * t * t, o * i + s.n * t * o,
            (s.n + s.m) * (t * (a + b) + a * b)};
}

std::optional<Scoring> best_of(const LinearCosts& costs, const CostSettings& settings) {
    constexpr double bytes_of_element = 4;
    std::optional<Scoring> best;
    for (const Scoring scoring : {Scoring::gip, Scoring::pip, Scoring::direct}) {
        const auto at = static_cast<std::size_t>(scoring);
        if (settings.budget_bytes && bytes_of_element * costs.elements[at] > *settings.budget_bytes)
            continue;
        if (!best || costs.flops[at] < costs.flops[static_cast<std::size_t>(*best)]) best = scoring;
    }
    return best;
}

}  // namespace

ScoringCosts scoring_costs(const std::vector<LinearMap>& maps, const CostSettings& s) {
    ScoringCosts costs;
    double parameters = 0, widths = 0, roots = 0;
    for (const LinearMap& map : maps) {
        LinearCosts one{
            .map = map, .flops = flops_of(map, s), .elements = elements_of(map, s), .best = {}};
        one.best = best_of(one, s);
        for (std::size_t i = 0; i < scorings.size(); ++i) {
            costs.flops[i] += map.count * one.flops[i];
            costs.elements[i] = std::max(costs.elements[i], one.elements[i]);
        }
        parameters += map.count * map.out * map.in;
        widths += map.count * (map.out + map.in);
        roots += map.count * std::sqrt(map.out * map.in);
        costs.maps.push_back(one);
    }
    costs.crossover_m = parameters / (s.tokens * widths);
    costs.crossover_tokens = parameters / roots;
    for (const Scoring scoring : scorings) {
        const auto i = static_cast<std::size_t>(scoring);
        // Forward, activation and weight gradients are a third each. Direct scoring has the weight
        // gradients already.
        const double saved = scoring == Scoring::direct ? 1.0 / 3 : (1 - s.k / s.n) / 3;
        costs.overhead_flops[i] =
            2 * s.m / (3 * s.n) - saved + costs.flops[i] / (6 * s.n * s.tokens * parameters);
    }
    return costs;
}

}  // namespace assay::dr_post_training
