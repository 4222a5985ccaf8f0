#include "impls/lazarus/policy/expert_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "impls/lazarus/policy/mapping.hpp"

namespace assay::lazarus {
namespace {

/// The experts of every share, in order: one group's placement of one layer.
Placement shares_of(int experts, int group) {
    Placement shares(static_cast<std::size_t>(group),
                     std::vector<int>(static_cast<std::size_t>(experts / group)));
    int expert = 0;
    for (std::vector<int>& share : shares) {
        for (int& one : share) one = expert++;
    }
    return shares;
}

}  // namespace

int nodes_in_whole_groups(int nodes, int group) { return nodes - nodes % group; }

ModelPlacement place_in_groups(const ModelPlacement& held, int experts, int group) {
    const std::size_t nodes = held.empty() ? 0 : held[0].size();
    if (group < 1 || experts % group != 0 || nodes % static_cast<std::size_t>(group) != 0) {
        throw std::invalid_argument(fmt::format(
            "{} nodes and {} experts do not make whole groups of {}", nodes, experts, group));
    }
    const ModelPlacement shares(held.size(), shares_of(experts, group));
    ModelPlacement holders(held.size());
    for (std::size_t first = 0; first < nodes; first += static_cast<std::size_t>(group)) {
        ModelPlacement held_here;
        for (const Placement& layer : held) {
            const auto begin = layer.begin() + static_cast<std::ptrdiff_t>(first);
            held_here.emplace_back(begin, begin + group);
        }
        // One mapping for all layers: a node's share is the same in each of them.
        const ModelPlacement here = map_layers_jointly(held_here, shares);
        for (std::size_t layer = 0; layer < here.size(); ++layer)
            holders[layer].insert(holders[layer].end(), here[layer].begin(), here[layer].end());
    }
    return holders;
}

std::vector<int> surplus_nodes(const ModelPlacement& held, int keep) {
    const std::size_t nodes = held.empty() ? 0 : held[0].size();
    std::vector<int> idle;                          // hold nothing, ascending
    std::map<Placement, std::vector<int>> holders;  // what is held → by whom, ascending
    for (std::size_t node = 0; node < nodes; ++node) {
        Placement mine;
        for (const Placement& layer : held) mine.push_back(layer[node]);
        const bool nothing = std::all_of(mine.begin(), mine.end(),
                                         [](const auto& experts) { return experts.empty(); });
        (nothing ? idle : holders[mine]).push_back(static_cast<int>(node));
    }
    const auto less_needed = [](const auto& a, const auto& b) {
        if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
        return !a.second.empty() && a.second.back() < b.second.back();
    };
    std::vector<int> surplus;
    for (int left = static_cast<int>(nodes); left > std::max(keep, 0); --left) {
        std::vector<int>& from =
            idle.empty() ? std::max_element(holders.begin(), holders.end(), less_needed)->second
                         : idle;
        surplus.push_back(from.back());
        from.pop_back();
    }
    std::sort(surplus.begin(), surplus.end());
    return surplus;
}

}  // namespace assay::lazarus
