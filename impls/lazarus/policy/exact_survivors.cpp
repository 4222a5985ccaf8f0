#include "impls/lazarus/policy/exact_survivors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "impls/lazarus/policy/failure_sets.hpp"
#include "impls/lazarus/policy/surviving_counts.hpp"

namespace assay::lazarus {
namespace {

using SignedUnions = std::array<std::int64_t, most_masked_nodes + 1>;  // by size of the union

void add_unions(std::span<const NodeMask> masks, NodeMask united, int sign, SignedUnions& by_size) {
    by_size[static_cast<std::size_t>(std::popcount(united))] += sign;
    for (std::size_t i = 0; i < masks.size(); ++i)
        add_unions(masks.subspan(i + 1), united | masks[i], -sign, by_size);
}

// Terms alternate in sign and may leave 64 bits, but the result never does: arithmetic modulo 2^64
// gives it exactly.
Survivors by_inclusion_exclusion(std::span<const NodeMask> minimal, int nodes) {
    SignedUnions by_size{};
    add_unions(minimal, 0, 1, by_size);
    Survivors survivors(static_cast<std::size_t>(nodes) + 1, 0);
    for (int united = 0; united <= nodes; ++united) {
        const auto u = static_cast<std::size_t>(united);
        if (by_size[u] == 0) continue;
        const Survivors& others = binomials(nodes - united);
        for (std::size_t k = 0; k < others.size(); ++k)
            survivors[u + k] += static_cast<std::uint64_t>(by_size[u]) * others[k];
    }
    return survivors;
}

Survivors by_enumeration(std::span<const NodeMask> minimal, int nodes) {
    FailureComponent component{nodes, {}};
    for (NodeMask mask : minimal) {
        NodeSet set(nodes);
        for (; mask != 0; mask &= mask - 1) set.insert(std::countr_zero(mask));
        component.sets.push_back(std::move(set));
    }
    const SetCounts counts = count_by_enumeration(component);  // integers below 2^30: exact
    Survivors survivors;
    for (long double count : counts) survivors.push_back(static_cast<std::uint64_t>(count));
    return survivors;
}

double enumeration_work(int nodes) { return std::exp2(nodes) / 64 * (nodes + 8) / 8 + 100; }

}  // namespace

std::vector<NodeMask> holder_masks(const Placement& placement, int experts) {
    std::vector<NodeMask> masks(static_cast<std::size_t>(experts), 0);
    for (std::size_t node = 0; node < placement.size(); ++node) {
        for (int e : placement[node]) masks[static_cast<std::size_t>(e)] |= NodeMask{1} << node;
    }
    return masks;
}

std::vector<NodeMask> minimal_masks(std::vector<NodeMask> masks) {
    std::sort(masks.begin(), masks.end(), [](NodeMask a, NodeMask b) {
        const int size_a = std::popcount(a), size_b = std::popcount(b);
        return size_a != size_b ? size_a < size_b : a < b;
    });
    std::size_t kept = 0;
    for (NodeMask mask : masks) {
        const auto end = masks.begin() + static_cast<std::ptrdiff_t>(kept);
        const bool implied =
            std::any_of(masks.begin(), end, [&](NodeMask m) { return (m & ~mask) == 0; });
        if (!implied) masks[kept++] = mask;
    }
    masks.resize(kept);
    return masks;
}

double counting_work(std::size_t masks, int nodes) {
    const double expansion = std::exp2(masks) + 16;
    return nodes <= 30 ? std::min(expansion, enumeration_work(nodes)) : expansion;
}

std::optional<Survivors> exact_survivors(std::span<const NodeMask> minimal, int nodes) {
    if (counting_work(minimal.size(), nodes) > most_counting_work) return std::nullopt;
    const bool enumerate = nodes <= 30 && enumeration_work(nodes) < std::exp2(minimal.size()) + 16;
    return enumerate ? by_enumeration(minimal, nodes) : by_inclusion_exclusion(minimal, nodes);
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

const Survivors& binomials(int nodes) {
    static const auto triangle = [] {
        std::array<Survivors, most_masked_nodes + 1> rows;
        for (std::size_t n = 0; n < rows.size(); ++n) {
            rows[n].assign(n + 1, 1);
            for (std::size_t k = 1; k < n; ++k) rows[n][k] = rows[n - 1][k - 1] + rows[n - 1][k];
        }
        return rows;
    }();
    return triangle[static_cast<std::size_t>(nodes)];
}

}  // namespace assay::lazarus
