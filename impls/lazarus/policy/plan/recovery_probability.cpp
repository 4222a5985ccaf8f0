#include "impls/lazarus/policy/plan/recovery_probability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "impls/lazarus/policy/plan/holder_sets.hpp"
#include "impls/lazarus/policy/plan/survivors.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

std::optional<SurvivorCounts> count(const FailureComponent& component,
                                    const RecoveryOptions& options) {
    const auto sets = static_cast<int>(component.sets.size());
    const bool few_nodes =
        component.nodes <= std::min(options.enumerate_up_to, most_enumerated_nodes);
    const bool few_sets = sets <= std::min(options.inclusion_exclusion_up_to, 24);
    if (few_nodes && (!few_sets || sets >= component.nodes))
        return count_survivors(component, Counting::enumeration);
    // Unions of a few sets are fewer than the products of a sweep; of many, they cost accuracy.
    constexpr int very_few = 8;
    if (few_sets && (sets <= very_few || component.nodes <= most_masked_nodes))
        return count_survivors(component, Counting::inclusion_exclusion);
    if (auto counts = sweep_survivors(component, options.sweep_work)) return counts;
    if (few_sets) return count_survivors(component, Counting::inclusion_exclusion);
    return std::nullopt;
}

// Counts over the nodes of both: those of each are polynomials in the number of failed nodes.
SurvivorCounts multiply(const SurvivorCounts& a, const SurvivorCounts& b) {
    SurvivorCounts product(a.size() + b.size() - 1, 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == 0) continue;
        for (std::size_t j = 0; j < b.size(); ++j) product[i + j] += a[i] * b[j];
    }
    return product;
}

std::optional<std::vector<double>> exact_curve(const std::vector<FailureComponent>& components,
                                               int nodes, const RecoveryOptions& options) {
    if (nodes > most_countable_nodes()) return std::nullopt;
    int rest = nodes;
    std::vector<SurvivorCounts> factors;
    for (const FailureComponent& component : components) {
        auto counts = count(component, options);
        if (!counts) return std::nullopt;
        factors.push_back(std::move(*counts));
        rest -= component.nodes;
    }
    SurvivorCounts surviving = all_failure_sets(rest);
    for (const SurvivorCounts& factor : factors) surviving = multiply(surviving, factor);
    const SurvivorCounts all = all_failure_sets(nodes);
    std::vector<double> curve;
    for (std::size_t k = 0; k < all.size(); ++k) {
        curve.push_back(static_cast<double>(std::clamp(surviving[k] / all[k], 0.0L, 1.0L)));
    }
    return curve;
}

// A uniform number below `bound`. The standard's distributions differ between libraries; curves
// must not.
std::size_t below(std::mt19937_64& random, std::size_t bound) {
    const std::uint64_t limit = random.max() - random.max() % bound;
    for (;;) {
        const std::uint64_t draw = random();
        if (draw < limit) return static_cast<std::size_t>(draw % bound);
    }
}

// Nodes fail one after the other in random order until a holder set is gone: one order samples the
// whole curve.
RecoveryCurve monte_carlo_curve(const std::vector<NodeSet>& sets, int nodes,
                                const RecoveryOptions& options) {
    if (options.samples < 1)
        throw UserError(fmt::format("{} Monte Carlo samples: at least one", options.samples));
    std::vector<std::vector<int>> sets_on(static_cast<std::size_t>(nodes));
    std::vector<int> sizes;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        const std::vector<int> members = sets[s].members();
        for (int n : members) sets_on[static_cast<std::size_t>(n)].push_back(static_cast<int>(s));
        sizes.push_back(static_cast<int>(members.size()));
    }

    std::mt19937_64 random(options.seed);
    std::vector<std::size_t> order(static_cast<std::size_t>(nodes));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<long> deaths(order.size() + 1, 0);  // by number of failures that killed
    std::vector<int> alive;
    for (int sample = 0; sample < options.samples; ++sample) {
        alive = sizes;
        bool dead = false;
        for (std::size_t k = 0; !dead; ++k) {
            std::swap(order[k], order[k + below(random, order.size() - k)]);
            for (int s : sets_on[order[k]])
                dead = --alive[static_cast<std::size_t>(s)] == 0 || dead;
            if (dead) ++deaths[k + 1];
        }
    }

    RecoveryCurve curve;
    curve.method = RecoveryMethod::monte_carlo;
    const double n = options.samples, z = 1.959963984540054;
    long surviving = options.samples;
    for (long died : deaths) {
        surviving -= died;
        const double p = static_cast<double>(surviving) / n;
        curve.probability.push_back(p);
        const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
        curve.error = std::max(curve.error, half);
    }
    return curve;
}

}  // namespace

RecoveryCurve recovery_probability(const ModelPlacement& placement, int experts,
                                   const RecoveryOptions& options) {
    if (placement.empty()) throw UserError("recovery probability of a model without layers");
    const auto nodes = static_cast<int>(placement[0].size());
    const std::vector<NodeSet> sets = minimal_holder_sets(placement, experts);
    RecoveryCurve curve;
    if (!sets.empty() && sets.front().size() == 0) {
        curve.probability.assign(static_cast<std::size_t>(nodes) + 1, 0.0);
        return curve;
    }
    if (auto exact = exact_curve(split_components(sets, nodes), nodes, options)) {
        curve.probability = std::move(*exact);
        return curve;
    }
    return monte_carlo_curve(sets, nodes, options);
}

RecoveryCurve recovery_probability(const Placement& placement, int experts,
                                   const RecoveryOptions& options) {
    return recovery_probability(ModelPlacement{placement}, experts, options);
}

}  // namespace assay::lazarus
