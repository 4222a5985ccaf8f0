#include "impls/lazarus/policy/beyond/plan_quality.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace assay::lazarus {
namespace {

double expansion_work(std::size_t masks) { return std::exp2(masks) + 16; }

double enumeration_work(int nodes) { return std::exp2(nodes) / 64 * (nodes + 8) / 8 + 100; }

}  // namespace

double counting_work(std::size_t masks, int nodes) {
    const double expansion = expansion_work(masks);
    return nodes <= most_enumerated_nodes ? std::min(expansion, enumeration_work(nodes))
                                          : expansion;
}

std::optional<Survivors> exact_survivors(std::span<const NodeMask> minimal, int nodes) {
    if (counting_work(minimal.size(), nodes) > most_counting_work) return std::nullopt;
    const bool enumerate =
        nodes <= most_enumerated_nodes && enumeration_work(nodes) < expansion_work(minimal.size());
    return count_survivors(minimal, nodes,
                           enumerate ? Counting::enumeration : Counting::inclusion_exclusion);
}

Survivors survivors_bound(std::span<const NodeMask> minimal, int nodes) {
    while (counting_work(minimal.size(), nodes) > most_counting_work)
        minimal = minimal.first(minimal.size() - 1);
    return *exact_survivors(minimal, nodes);
}

bool never_fewer(const Survivors& a, const Survivors& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](std::uint64_t x, std::uint64_t y) { return x >= y; });
}

Survivors larger(const Survivors& a, const Survivors& b) {
    Survivors result;
    for (std::size_t k = 0; k < a.size(); ++k) result.push_back(std::max(a[k], b[k]));
    return result;
}

std::int64_t shortfall(const Survivors& a, const Survivors& wanted) {
    const Survivors& all = binomials(static_cast<int>(wanted.size()) - 1);
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (a[k] >= wanted[k]) continue;
        const double share = static_cast<double>(wanted[k] - a[k]) / static_cast<double>(all[k]);
        sum += std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ldexp(share, 32)));
    }
    return sum;
}

bool PlanQuality::better_than(const PlanQuality& other) const {
    return std::tie(below_least, below_wanted, lost) <
           std::tie(other.below_least, other.below_wanted, other.lost);
}

PlanQuality judge(const Survivors& survivors, const SearchGoal& goal) {
    const Survivors& all = binomials(static_cast<int>(survivors.size()) - 1);
    return {shortfall(survivors, goal.at_least), shortfall(survivors, goal.wanted),
            shortfall(survivors, all)};
}

}  // namespace assay::lazarus
