// Counting survivors from node to node. Placements that walk over the nodes hold an expert on
// consecutive ones: of the holder sets that have begun and not ended at a node there are few, and
// of each only one thing matters, whether one of its nodes still lives.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "impls/lazarus/policy/plan/survivors.hpp"

namespace assay::lazarus {
namespace {

// Nodes that are in the same holder sets.
struct Cell {
    int nodes = 0;
    std::vector<std::size_t> sets;  // ascending
};

// In the order of their first nodes.
std::vector<Cell> cells_of(const FailureComponent& component) {
    std::vector<std::vector<std::size_t>> sets_with(static_cast<std::size_t>(component.nodes));
    for (std::size_t s = 0; s < component.sets.size(); ++s) {
        for (int n : component.sets[s].members())
            sets_with[static_cast<std::size_t>(n)].push_back(s);
    }
    std::vector<Cell> cells;
    std::map<std::vector<std::size_t>, std::size_t> known;
    for (auto& sets : sets_with) {
        const auto [found, is_new] = known.emplace(sets, cells.size());
        if (is_new) cells.push_back({0, std::move(sets)});
        ++cells[found->second].nodes;
    }
    return cells;
}

// Adds the ways to lose some of a cell's nodes, but not all of them.
void add_some_lost(const SurvivorCounts& before, const SurvivorCounts& cell, SurvivorCounts& sum) {
    sum.resize(std::max(sum.size(), before.size() + cell.size() - 1), 0);
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] == 0) continue;
        for (std::size_t j = 0; j + 1 < cell.size(); ++j) sum[i + j] += before[i] * cell[j];
    }
}

void add_all_lost(const SurvivorCounts& before, int nodes, SurvivorCounts& sum) {
    const auto lost = static_cast<std::size_t>(nodes);
    sum.resize(std::max(sum.size(), before.size() + lost), 0);
    for (std::size_t i = 0; i < before.size(); ++i) sum[i + lost] += before[i];
}

}  // namespace

std::optional<SurvivorCounts> sweep_survivors(const FailureComponent& component, double most_work) {
    const std::vector<Cell> cells = cells_of(component);
    std::vector<std::size_t> last(component.sets.size(), 0);
    for (std::size_t c = 0; c < cells.size(); ++c) {
        for (std::size_t s : cells[c].sets) last[s] = c;
    }

    using Alive = std::uint64_t;  // of the open sets, by place: a node lives
    std::map<Alive, SurvivorCounts> states{{0, {1}}};
    Alive free_places = ~Alive{0};
    std::vector<Alive> place(component.sets.size(), 0);  // one bit; 0: not open yet
    double work = 0;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        Alive here = 0, ending = 0;
        for (std::size_t s : cells[c].sets) {
            if (place[s] == 0) {
                if (free_places == 0) return std::nullopt;
                place[s] = free_places & (~free_places + 1);
                free_places &= ~place[s];
            }
            here |= place[s];
            if (last[s] == c) ending |= place[s];
        }
        const SurvivorCounts some = all_failure_sets(cells[c].nodes);
        std::map<Alive, SurvivorCounts> next;
        for (const auto& [alive, counts] : states) {
            work += static_cast<double>(counts.size()) * cells[c].nodes + 100;
            if (work > most_work) return std::nullopt;
            add_some_lost(counts, some, next[(alive | here) & ~ending]);
            // A set that ends without a living node is lost.
            if ((ending & ~alive) == 0) add_all_lost(counts, cells[c].nodes, next[alive & ~ending]);
        }
        states = std::move(next);
        free_places |= ending;
    }
    SurvivorCounts& counts = states[0];  // every set has ended
    counts.resize(static_cast<std::size_t>(component.nodes) + 1, 0);
    return std::move(counts);
}

}  // namespace assay::lazarus
