// Networks for tests and benchmarks: their links reach what is given here.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "suite/scenario/network/topology.hpp"

namespace assay::testing {

inline Sourced given(double value) { return {.value = value, .kind = "assumed", .source = "test"}; }

inline LinkKind link(std::string name, double bandwidth, double latency_s) {
    return {.name = std::move(name),
            .bandwidth = given(bandwidth),
            .efficiency = given(1),
            .latency_s = given(latency_s)};
}

/// A rank per node, all on one switch.
inline ClusterProfile one_switch(double bandwidth, double latency_s = 0) {
    ClusterProfile cluster;
    cluster.id = "test";
    cluster.link_bandwidth = given(bandwidth);
    cluster.link_efficiency = given(1);
    cluster.link_latency_s = given(latency_s);
    return cluster;
}

/// Nodes of several ranks each, all on one switch.
struct ServerShape {
    int nodes = 1, ranks = 1, nics = 1;
    double inside = 1, outside = 1;  ///< bytes/s of a rank's port, and of an interface
    double inside_latency_s = 0, outside_latency_s = 0;
};
inline ClusterProfile servers(const ServerShape& shape) {
    ClusterProfile cluster = one_switch(shape.outside, shape.outside_latency_s);
    NodeKind node = {.name = "n",
                     .count = shape.nodes,
                     .ranks = shape.ranks,
                     .nics = shape.nics,
                     .inside = "fabric",
                     .outside = ""};
    cluster.network = NetworkShape{};
    cluster.network->links = {link("fabric", shape.inside, shape.inside_latency_s)};
    cluster.network->nodes = {node};
    return cluster;
}

/// Racks of single ranks. The uplink of a rack of 8 at 4:1 carries what two of its nodes can send.
struct RackShape {
    int racks = 2, nodes = 2;  ///< of each rack
    double outside = 1, uplink = 1;
    double outside_latency_s = 0, uplink_latency_s = 0;
};
inline ClusterProfile racks(const RackShape& shape) {
    ClusterProfile cluster = one_switch(shape.outside, shape.outside_latency_s);
    cluster.network = NetworkShape{};
    cluster.network->links = {link("uplink", shape.uplink, shape.uplink_latency_s)};
    NodeKind node;
    node.name = "n";
    node.count = shape.racks * shape.nodes;
    cluster.network->nodes = {node};
    for (int rack = 0; rack < shape.racks; ++rack)
        cluster.network->racks.push_back(
            {.name = fmt::format("r{}", rack),
             .nodes = {fmt::format("n{}..n{}", rack * shape.nodes, (rack + 1) * shape.nodes - 1)},
             .uplink = "uplink"});
    return cluster;
}

}  // namespace assay::testing
