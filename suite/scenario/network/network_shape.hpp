// The shape of a cluster's network as its profile's file has it: kinds of links, nodes with their
// devices, racks. What follows from it, ports and routes, is in topology.hpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/scenario/sourced.hpp"

namespace assay {

template <class Error>
class StrictTable;

/// Full duplex: it carries this much each way at the same time.
struct LinkKind {
    std::string name;    ///< "nvlink"
    Sourced bandwidth;   ///< bytes/s per direction
    Sourced efficiency;  ///< the share of it that collectives reach, 0 to 1
    Sourced latency_s;   ///< of a message that comes in by one such link and leaves by another
    bool operator==(const LinkKind&) const = default;
};

struct NodeKind {
    std::string name;          ///< of the node; with a count of several: "gpu" is gpu0, gpu1, …
    std::optional<int> count;  ///< nodes of this kind
    int ranks = 1;             ///< devices of a node, each one a rank
    int nics = 1;              ///< network interfaces, shared by its ranks in blocks
    std::string inside;        ///< kind of the link of each rank to the others; of one rank: empty
    std::string outside;       ///< of each interface to the switch; empty: the profile's link_…
    bool operator==(const NodeKind&) const = default;
};

struct Rack {
    std::string name;
    std::vector<std::string> nodes;  ///< by name; "gpu0..gpu7" is eight of them
    std::string uplink;              ///< kind of the link of its switch to those of other racks
    bool operator==(const Rack&) const = default;
};

/// Ranks are dealt node by node in the order of the nodes, unless `rank_nodes` names the node of
/// each. Without racks all nodes are on one switch; switches themselves are never in the way.
struct NetworkShape {
    std::vector<LinkKind> links;
    std::vector<NodeKind> nodes;
    std::vector<Rack> racks;  ///< none, or every node is in one of them
    std::vector<std::string> rank_nodes;
    std::string where;  ///< "file:line:column", for messages

    /// Wherever it was read from.
    bool operator==(const NetworkShape& other) const {
        return links == other.links && nodes == other.nodes && racks == other.racks &&
               rank_nodes == other.rank_nodes;
    }
};

/// The names of the nodes of one kind.
std::vector<std::string> node_names(const NodeKind&);

/// What an entry of Rack::nodes stands for: "gpu0..gpu2" is gpu0, gpu1, gpu2; of more than `most`
/// nodes: nothing.
std::vector<std::string> nodes_meant(const std::string& entry, std::size_t most);

/// The table [network] of a cluster profile; nothing where it has none. Throws ProfileError for
/// what is missing, unknown or contradicts itself.
std::optional<NetworkShape> read_network_shape(StrictTable<ProfileError>& file);

/// As that table.
std::string to_toml(const NetworkShape&);
nlohmann::json to_json(const NetworkShape&);

std::span<const ProfileField<LinkKind>> link_fields();

}  // namespace assay
