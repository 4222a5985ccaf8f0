#include "suite/drive/simgrid/rank_flows.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

namespace assay::drive {
namespace {

int up_link(int port) { return 2 * port; }
int down_link(int port) { return 2 * port + 1; }

}  // namespace

RankPlatform platform_of(const Topology& topology, int ranks) {
    topology.require(ranks);
    RankPlatform made;
    FlowPlatform& platform = made.platform;
    for (int port = 0; port < topology.ports(ranks); ++port)
        platform.links.insert(platform.links.end(), 2, topology.port(port).bandwidth);
    std::map<int, int> switch_of_rack, switch_of_node;
    const auto on = [&](std::map<int, int>& switches, int key, int uplink) {
        const auto [found, is_new] =
            switches.emplace(key, static_cast<int>(platform.switches.size()));
        if (is_new) {
            if (uplink < 0)
                platform.switches.emplace_back();
            else
                platform.switches.push_back({up_link(uplink), down_link(uplink)});
        }
        return found->second;
    };
    const auto add_host = [&](int its_switch, int port) {
        platform.hosts.push_back({its_switch, up_link(port), down_link(port)});
        return static_cast<int>(platform.hosts.size()) - 1;
    };
    for (int rank = 0; rank < ranks; ++rank) {
        const Topology::Place place = topology.place(rank);
        RankPlatform::Hosts hosts;
        hosts.outside = add_host(on(switch_of_rack, place.rack, place.rack), place.nic);
        if (place.inside >= 0)
            hosts.inside =
                add_host(on(switch_of_node, place.node, FlowPlatform::none), place.inside);
        made.hosts.push_back(hosts);
    }
    return made;
}

RankFlows::RankFlows(Topology topology, int ranks) : topology_(std::move(topology)) {
    RankPlatform made = platform_of(topology_, ranks);
    engine_ = open_flow_engine(made.platform);
    hosts_ = std::move(made.hosts);
}

void RankFlows::start(FlowEngine::Id id, int from, int to, double bytes) {
    const bool inside = topology_.place(from).node == topology_.place(to).node;
    const auto host = [&](int rank) {
        const RankPlatform::Hosts& hosts = hosts_[static_cast<std::size_t>(rank)];
        return inside ? hosts.inside : hosts.outside;
    };
    engine_->start(id, host(from), host(to), bytes);
}

}  // namespace assay::drive
