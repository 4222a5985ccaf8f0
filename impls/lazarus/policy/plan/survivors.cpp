#include "impls/lazarus/policy/plan/survivors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

namespace assay::lazarus {
namespace {

// killed[F]: failure set F contains a holder set; F is a bit mask of nodes, 64 of them per word.
std::vector<std::uint64_t> killed_sets(std::span<const NodeMask> holders, int nodes) {
    const std::size_t size = std::size_t{1} << nodes;
    std::vector<std::uint64_t> killed(std::max<std::size_t>(size / 64, 1), 0);
    for (NodeMask mask : holders) killed[mask / 64] |= std::uint64_t{1} << (mask % 64);
    // Closure upwards: what kills still kills with one more node.
    static constexpr std::array<std::uint64_t, 6> without = {
        0x5555555555555555U, 0x3333333333333333U, 0x0f0f0f0f0f0f0f0fU,
        0x00ff00ff00ff00ffU, 0x0000ffff0000ffffU, 0x00000000ffffffffU};
    for (int n = 0; n < nodes; ++n) {
        if (n < 6) {
            for (std::uint64_t& w : killed)
                w |= (w & without[static_cast<std::size_t>(n)]) << (1 << n);
        } else {
            const std::size_t step = std::size_t{1} << (n - 6);
            for (std::size_t i = 0; i < killed.size(); ++i) {
                if ((i & step) != 0) killed[i] |= killed[i ^ step];
            }
        }
    }
    return killed;
}

Survivors enumerate(std::span<const NodeMask> holders, int nodes) {
    const std::vector<std::uint64_t> killed = killed_sets(holders, nodes);
    // Positions in a word by number of set bits: the low six nodes of a failure set.
    std::array<std::uint64_t, 7> low{};
    const int bits = std::min(nodes, 6);
    for (unsigned f = 0; f < (1U << bits); ++f)
        low[static_cast<std::size_t>(std::popcount(f))] |= std::uint64_t{1} << f;
    Survivors survivors(static_cast<std::size_t>(nodes) + 1, 0);
    for (std::size_t i = 0; i < killed.size(); ++i) {
        const auto high = static_cast<std::size_t>(std::popcount(i));
        for (std::size_t l = 0; l <= static_cast<std::size_t>(bits); ++l)
            survivors[high + l] += static_cast<std::uint64_t>(std::popcount(~killed[i] & low[l]));
    }
    return survivors;
}

// [u]: unions of u nodes, over all choices among the sets; those of an odd number count negative.
template <class Set>
void add_unions(std::span<const Set> sets, Set whole, int sign,
                std::vector<std::int64_t>& by_size) {
    by_size[static_cast<std::size_t>(size_of(whole))] += sign;
    for (std::size_t i = 0; i < sets.size(); ++i)
        add_unions(sets.subspan(i + 1), united(whole, sets[i]), -sign, by_size);
}

// Failure sets that contain a union of u nodes are the subsets of the other nodes. `binomials_of`
// is asked for 0, 1, … nodes in this order. With unsigned counts terms may leave 64 bits, but the
// result never does: arithmetic modulo 2^64 gives it exactly.
template <class Count, class Set, class Binomials>
std::vector<Count> expand_unions(std::span<const Set> sets, Set none, int nodes,
                                 Binomials binomials_of) {
    std::vector<std::int64_t> by_size(static_cast<std::size_t>(nodes) + 1, 0);
    add_unions(sets, std::move(none), 1, by_size);
    std::vector<Count> counts(by_size.size(), 0);
    for (std::size_t u = by_size.size(); u-- > 0;) {
        const auto& others = binomials_of(nodes - static_cast<int>(u));
        if (by_size[u] == 0) continue;
        for (std::size_t k = 0; k < others.size(); ++k)
            counts[u + k] += static_cast<Count>(by_size[u]) * others[k];
    }
    return counts;
}

// One step of Pascal's triangle costs a rounding at most; the product rule costs two and its
// intermediate values leave the integers.
void next_row(SurvivorCounts& row) {
    row.push_back(1);
    for (std::size_t k = row.size() - 2; k > 0; --k) row[k] += row[k - 1];
}

SurvivorCounts expand_many_nodes(const FailureComponent& component) {
    SurvivorCounts row;
    const auto binomials_of = [&](int nodes) -> const SurvivorCounts& {
        nodes == 0 ? row.assign(1, 1) : next_row(row);
        return row;
    };
    auto counts =
        expand_unions<long double>(std::span<const NodeSet>(component.sets),
                                   NodeSet(component.nodes), component.nodes, binomials_of);
    for (long double& count : counts) count = std::max(count, 0.0L);
    return counts;
}

}  // namespace

Survivors count_survivors(std::span<const NodeMask> holders, int nodes, Counting way) {
    if (way == Counting::enumeration) return enumerate(holders, nodes);
    return expand_unions<std::uint64_t>(holders, NodeMask{0}, nodes, binomials);
}

SurvivorCounts count_survivors(const FailureComponent& component, Counting way) {
    if (component.nodes > most_masked_nodes) return expand_many_nodes(component);
    std::vector<NodeMask> holders;
    for (const NodeSet& set : component.sets) holders.push_back(set.mask());
    const Survivors exact = count_survivors(holders, component.nodes, way);
    return {exact.begin(), exact.end()};
}

int most_countable_nodes() { return std::numeric_limits<long double>::max_exponent - 1; }

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

SurvivorCounts all_failure_sets(int nodes) {
    SurvivorCounts row{1};
    while (row.size() <= static_cast<std::size_t>(nodes)) next_row(row);
    return row;
}

}  // namespace assay::lazarus
