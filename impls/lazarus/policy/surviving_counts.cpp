#include "impls/lazarus/policy/surviving_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace assay::lazarus {
namespace {

// killed[F]: failure set F contains a holder set; F is a bit mask of nodes, 64 of them per word.
std::vector<std::uint64_t> killed_sets(const FailureComponent& component) {
    const std::size_t size = std::size_t{1} << component.nodes;
    std::vector<std::uint64_t> killed(std::max<std::size_t>(size / 64, 1), 0);
    for (const NodeSet& set : component.sets) {
        std::size_t mask = 0;
        for (int n : set.members()) mask |= std::size_t{1} << n;
        killed[mask / 64] |= std::uint64_t{1} << (mask % 64);
    }
    // Closure upwards: what kills still kills with one more node.
    static constexpr std::array<std::uint64_t, 6> without = {
        0x5555555555555555U, 0x3333333333333333U, 0x0f0f0f0f0f0f0f0fU,
        0x00ff00ff00ff00ffU, 0x0000ffff0000ffffU, 0x00000000ffffffffU};
    for (int n = 0; n < component.nodes; ++n) {
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

void add_unions(const std::vector<NodeSet>& sets, std::size_t from, const NodeSet& united, int sign,
                std::vector<std::int64_t>& by_size) {
    by_size[static_cast<std::size_t>(united.size())] += sign;
    for (std::size_t s = from; s < sets.size(); ++s) {
        NodeSet more = united;
        more.unite(sets[s]);
        add_unions(sets, s + 1, more, -sign, by_size);
    }
}

}  // namespace

int most_countable_nodes() { return std::numeric_limits<long double>::max_exponent - 1; }

SetCounts all_sets(int nodes) {
    SetCounts counts(static_cast<std::size_t>(nodes) + 1, 1);
    // One step of Pascal's triangle costs a rounding at most; the product rule costs two and its
    // intermediate values leave the integers.
    for (int n = 1; n <= nodes; ++n) {
        for (int k = n - 1; k > 0; --k)
            counts[static_cast<std::size_t>(k)] += counts[static_cast<std::size_t>(k) - 1];
    }
    return counts;
}

SetCounts count_by_enumeration(const FailureComponent& component) {
    const std::vector<std::uint64_t> killed = killed_sets(component);
    // Positions in a word by number of set bits: the low six nodes of a failure set.
    std::array<std::uint64_t, 7> low{};
    const int bits = std::min(component.nodes, 6);
    for (unsigned f = 0; f < (1U << bits); ++f) {
        low[static_cast<std::size_t>(std::popcount(f))] |= std::uint64_t{1} << f;
    }
    SetCounts counts(static_cast<std::size_t>(component.nodes) + 1, 0);
    for (std::size_t i = 0; i < killed.size(); ++i) {
        const auto high = static_cast<std::size_t>(std::popcount(i));
        for (std::size_t l = 0; l <= static_cast<std::size_t>(bits); ++l) {
            counts[high + l] += static_cast<long double>(std::popcount(~killed[i] & low[l]));
        }
    }
    return counts;
}

SetCounts count_by_inclusion_exclusion(const FailureComponent& component) {
    const auto nodes = static_cast<std::size_t>(component.nodes);
    std::vector<std::int64_t> by_size(nodes + 1, 0);  // signed number of unions of each size
    add_unions(component.sets, 0, NodeSet(component.nodes), 1, by_size);

    // Failure sets that contain a union of u nodes are the subsets of the other nodes - u. Walking
    // u downwards builds those binomials row by row.
    SetCounts counts(nodes + 1, 0);
    SetCounts row{1};
    for (std::size_t u = nodes + 1; u-- > 0;) {
        if (by_size[u] != 0) {
            for (std::size_t k = 0; k < row.size(); ++k) {
                counts[u + k] += static_cast<long double>(by_size[u]) * row[k];
            }
        }
        row.push_back(1);
        for (std::size_t k = row.size() - 2; k > 0; --k) row[k] += row[k - 1];
    }
    for (long double& count : counts) count = std::max(count, 0.0L);
    return counts;
}

SetCounts multiply(const SetCounts& a, const SetCounts& b) {
    SetCounts product(a.size() + b.size() - 1, 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == 0) continue;
        for (std::size_t j = 0; j < b.size(); ++j) product[i + j] += a[i] * b[j];
    }
    return product;
}

}  // namespace assay::lazarus
