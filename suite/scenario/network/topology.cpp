#include "suite/scenario/network/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace assay {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Topology::Port port_of(std::string name, const LinkKind& link) {
    return {.name = std::move(name),
            .bandwidth = reached(link.bandwidth, link.efficiency),
            .latency_s = link.latency_s.value};
}

}  // namespace

Topology::Topology(const ClusterProfile& cluster)
    : says_(fmt::format("cluster profile '{}'", cluster.id)) {
    if (cluster.network)
        lay_out(*cluster.network, cluster);
    else
        ports_.push_back({.name = "node",
                          .bandwidth = reached(cluster.link_bandwidth, cluster.link_efficiency),
                          .latency_s = cluster.link_latency_s.value});
}

void Topology::lay_out(const NetworkShape& shape, const ClusterProfile& cluster) {
    if (!shape.where.empty()) says_ = fmt::format("{}: {}", shape.where, says_);
    const LinkKind own = {.name = "",
                          .bandwidth = cluster.link_bandwidth,
                          .efficiency = cluster.link_efficiency,
                          .latency_s = cluster.link_latency_s};
    const auto link = [&](const std::string& name) -> const LinkKind& {
        if (name.empty()) return own;
        return *std::find_if(shape.links.begin(), shape.links.end(),
                             [&](const LinkKind& kind) { return kind.name == name; });
    };
    const auto add = [&](std::string name, const LinkKind& kind) {
        ports_.push_back(port_of(std::move(name), kind));
        return static_cast<int>(ports_.size()) - 1;
    };

    std::map<std::string, int> rack_of;  // port, by node
    for (const Rack& rack : shape.racks) {
        const int uplink = add(rack.name, link(rack.uplink));
        for (const std::string& entry : rack.nodes)
            for (const std::string& node : nodes_meant(entry, std::string::npos))
                rack_of[node] = uplink;
    }

    // Node by node, with the places of its ranks; which rank gets which place comes after.
    std::map<std::string, std::size_t> first_place;
    std::vector<Place> places;
    int number = 0;
    for (const NodeKind& kind : shape.nodes) {
        for (const std::string& node : node_names(kind)) {
            first_place[node] = places.size();
            const auto rack = rack_of.find(node);
            const int first_nic = static_cast<int>(ports_.size());
            for (int nic = 0; nic < kind.nics; ++nic)
                add(kind.nics == 1 ? node : fmt::format("{}/nic{}", node, nic), link(kind.outside));
            for (int rank = 0; rank < kind.ranks; ++rank)
                places.push_back(
                    {.node = number,
                     .rack = rack == rack_of.end() ? -1 : rack->second,
                     .inside = kind.inside.empty()
                                   ? -1
                                   : add(fmt::format("{}/rank{}", node, rank), link(kind.inside)),
                     .nic = first_nic + rank * kind.nics / kind.ranks});
            ++number;
        }
    }
    if (shape.rank_nodes.empty())
        places_ = std::move(places);
    else
        for (const std::string& node : shape.rank_nodes)
            places_.push_back(places[first_place.at(node)++]);
}

int Topology::ranks() const {
    return any_number() ? std::numeric_limits<int>::max() : static_cast<int>(places_.size());
}

void Topology::require(int ranks) const {
    if (ranks > this->ranks())
        throw UserError(
            fmt::format("{}: {} ranks are asked for, and its network has room for {}: add nodes "
                        "to it, or ask for fewer",
                        says_, ranks, this->ranks()));
}

RankSites Topology::sites(int ranks) const {
    require(ranks);
    if (any_number()) return RankSites::apart(ranks);
    RankSites sites;
    std::map<int, int> nodes, racks;
    const auto number = [](std::map<int, int>& known, int id) {
        return known.emplace(id, static_cast<int>(known.size())).first->second;
    };
    for (int rank = 0; rank < ranks; ++rank) {
        sites.node.push_back(number(nodes, place(rank).node));
        sites.rack.push_back(number(racks, place(rank).rack));
    }
    sites.nodes = static_cast<int>(nodes.size());
    sites.racks = static_cast<int>(racks.size());
    sites.several_per_node = sites.nodes < ranks;
    return sites;
}

Topology Topology::among(std::span<const int> ranks) const {
    if (ranks.empty()) throw std::invalid_argument("a topology among no ranks");
    if (std::set(ranks.begin(), ranks.end()).size() != ranks.size())
        throw std::invalid_argument("a topology among ranks of which one is named twice");
    Topology those = *this;
    if (any_number()) return those;
    those.places_.clear();
    for (const int rank : ranks) {
        if (rank < 0) throw std::invalid_argument(fmt::format("rank {}", rank));
        require(rank + 1);
        those.places_.push_back(places_[at(rank)]);
    }
    return those;
}

}  // namespace assay
