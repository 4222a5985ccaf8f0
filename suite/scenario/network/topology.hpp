// Where ranks are and what lies between them: ports with a bandwidth, and routes over them.
//
//     rank ──inside── rank        ranks of one node: through the ports of both into its fabric
//     rank ══nic══ switch ══nic══ rank                     nodes of one rack, or without racks
//     rank ══nic══ switch ══uplink══ core ══uplink══ switch ══nic══ rank            two racks
//
// Ports are full duplex; switches and the core themselves are never in the way. What a rank sends
// to other nodes does not pass its port inside.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "suite/scenario/device_profile.hpp"
#include "suite/scenario/network/traffic.hpp"

namespace assay {

class Topology {
  public:
    struct Port {
        std::string name;      ///< "gpu0", "gpu0/nic1", "rack0"
        double bandwidth = 0;  ///< bytes/s per direction, as reached
        double latency_s = 0;  ///< of a message that goes up such a port and down another
    };

    /// A rank's node and ports, by number; -1: none.
    struct Place {
        int node = 0;
        int rack = -1;    ///< its port
        int inside = -1;  ///< its own port into the node's fabric
        int nic = 0;      ///< the port that it shares with others of its node
    };

    /// What one rank sends to another goes up the ports `up` and down the ports `down`.
    struct Route {
        std::array<int, 2> up = {}, down = {};
        int hops = 0;          ///< of each; 0: from a rank to itself
        double latency_s = 0;  ///< half of each port's
    };

    /// As the profile's [network] says. Without one: any number of ranks, each on a node of its own
    /// with the profile's link, all on one switch.
    explicit Topology(const ClusterProfile& cluster);

    /// Throws UserError where there are fewer ranks than that.
    void require(int ranks) const;
    int ranks() const;  ///< that there are; as many as wanted: the largest int
    /// Without [network]: every rank has a port of its own, all on one switch.
    bool any_number() const { return places_.empty(); }

    Place place(int rank) const {
        if (any_number()) return {.node = rank, .rack = -1, .inside = -1, .nic = rank};
        return places_[static_cast<std::size_t>(rank)];
    }
    Route route(int from, int to) const;

    /// Ports that ranks 0 … ranks - 1 can use: their numbers are below this.
    int ports(int ranks) const { return any_number() ? ranks : static_cast<int>(ports_.size()); }
    const Port& port(int number) const {
        return any_number() ? ports_.front() : ports_[static_cast<std::size_t>(number)];
    }

    /// Which nodes and racks ranks 0 … ranks - 1 are on, numbered in the order of the ranks.
    RankSites sites(int ranks) const;

    /// The same network with these ranks alone: ranks[i] becomes rank i.
    Topology among(std::span<const int> ranks) const;

  private:
    void lay_out(const NetworkShape&, const ClusterProfile&);

    std::string says_;  ///< of whom, and where that is written
    std::vector<Port> ports_;
    std::vector<Place> places_;  ///< by rank; empty: any number, rank i on node i with port i
};

// All pairs of an all-to-all ask for theirs.
inline Topology::Route Topology::route(int from, int to) const {
    Route route;
    if (from == to) return route;
    const Place a = place(from), b = place(to);
    const auto pass = [&](int up, int down) {
        route.up[static_cast<std::size_t>(route.hops)] = up;
        route.down[static_cast<std::size_t>(route.hops)] = down;
        ++route.hops;
        route.latency_s += port(up).latency_s / 2 + port(down).latency_s / 2;
    };
    if (a.node == b.node) {
        pass(a.inside, b.inside);
        return route;
    }
    pass(a.nic, b.nic);
    if (a.rack != b.rack) pass(a.rack, b.rack);
    return route;
}

}  // namespace assay
