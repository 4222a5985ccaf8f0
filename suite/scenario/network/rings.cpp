#include "suite/scenario/network/rings.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace assay {
namespace {

/// The members on one node, in their order, and at which of them another interface begins.
struct OnNode {
    std::vector<int> members;
    std::vector<std::size_t> interfaces;
};

}  // namespace

std::vector<std::vector<int>> rings(const Topology& topology, std::span<const int> members) {
    if (topology.any_number()) return {{members.begin(), members.end()}};
    // Racks in the order of their first members, in each the nodes likewise.
    std::vector<std::vector<OnNode>> racks;
    std::map<int, std::size_t> rack_at;
    std::map<int, std::pair<std::size_t, std::size_t>> node_at;
    std::set<int> nics;
    for (const int member : members) {
        const Topology::Place place = topology.place(member);
        const auto [rack, new_rack] = rack_at.emplace(place.rack, racks.size());
        if (new_rack) racks.emplace_back();
        auto& nodes = racks[rack->second];
        const auto [node, new_node] =
            node_at.emplace(place.node, std::pair(rack->second, nodes.size()));
        if (new_node) nodes.emplace_back();
        OnNode& here = racks[node->second.first][node->second.second];
        if (nics.insert(place.nic).second) here.interfaces.push_back(here.members.size());
        here.members.push_back(member);
    }
    std::size_t count = 1;
    if (node_at.size() > 1) {
        count = members.size();
        for (const auto& nodes : racks)
            for (const OnNode& node : nodes) count = std::min(count, node.interfaces.size());
    }
    std::vector<std::vector<int>> orders(count);
    for (std::size_t k = 0; k < count; ++k) {
        for (const auto& nodes : racks) {
            for (const OnNode& node : nodes) {
                const auto first =
                    node.members.begin() + static_cast<std::ptrdiff_t>(node.interfaces[k]);
                orders[k].insert(orders[k].end(), first, node.members.end());
                orders[k].insert(orders[k].end(), node.members.begin(), first);
            }
        }
    }
    return orders;
}

}  // namespace assay
