// What ranks send and receive in an exchange, added up by how far it goes: enough to price an
// all-to-all in closed form, where a table of pairs would grow with the square of the ranks.
#pragma once

#include <span>
#include <vector>

namespace assay {

/// Where ranks are, as far as an exchange is concerned.
struct RankSites {
    std::vector<int> node;  ///< [rank]
    std::vector<int> rack;  ///< [rank]; without racks 0 for everyone
    int nodes = 0;          ///< numbers are below this
    int racks = 0;
    bool several_per_node = false;  ///< some node has two of these ranks

    /// Every rank on a node of its own, all in one rack.
    static RankSites apart(int ranks) {
        RankSites sites{.node = {}, .rack = {}, .nodes = ranks, .racks = 1};
        for (int rank = 0; rank < ranks; ++rank) sites.node.push_back(rank);
        sites.rack.assign(sites.node.size(), 0);
        return sites;
    }
    bool all_apart() const { return !several_per_node && racks <= 1; }
};

/// A volume by how far it goes. What a rank keeps is no traffic.
struct Traffic {
    double inside_node = 0;  ///< to other ranks of its node
    double inside_rack = 0;  ///< to other nodes of its rack
    double between_racks = 0;

    double total() const { return inside_node + inside_rack + between_racks; }
    double leaves_node() const { return inside_rack + between_racks; }
    Traffic& operator+=(const Traffic& other) {
        inside_node += other.inside_node;
        inside_rack += other.inside_rack;
        between_racks += other.between_racks;
        return *this;
    }
    Traffic& operator*=(double factor) {
        inside_node *= factor;
        inside_rack *= factor;
        between_racks *= factor;
        return *this;
    }
};

/// What one rank sends and receives.
struct RankTraffic {
    Traffic sent, received;
};

/// Adds `volume` from one rank to another to both of them; nothing where they are the same.
inline void add_message(std::vector<RankTraffic>& ranks, const RankSites& sites, int from, int to,
                        double volume) {
    if (from == to) return;
    const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
    double Traffic::*const where = sites.node[a] == sites.node[b]   ? &Traffic::inside_node
                                   : sites.rack[a] == sites.rack[b] ? &Traffic::inside_rack
                                                                    : &Traffic::between_racks;
    ranks[a].sent.*where += volume;
    ranks[b].received.*where += volume;
}

/// Of a table of volumes [from][to], row-major; the diagonal is no traffic.
inline std::vector<RankTraffic> traffic_of(std::span<const double> volumes,
                                           const RankSites& sites) {
    std::vector<RankTraffic> ranks(sites.node.size());
    for (std::size_t i = 0; i < volumes.size(); ++i)
        add_message(ranks, sites, static_cast<int>(i / ranks.size()),
                    static_cast<int>(i % ranks.size()), volumes[i]);
    return ranks;
}

}  // namespace assay
