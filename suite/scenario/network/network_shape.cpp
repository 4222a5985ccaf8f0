#include "suite/scenario/network/network_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/scenario/sourced_toml.hpp"

namespace assay {
namespace {

// Far beyond any cluster: a slip of the keyboard.
constexpr int most_nodes = 16'384, most_ranks_of_a_node = 1'024, most_ranks = 1'048'576;

/// Reads one [network] and checks each part against those before it.
class ShapeReader {
  public:
    explicit ShapeReader(ProfileTable network) : network_(std::move(network)) {}

    NetworkShape read() {
        for (ProfileTable& table : network_.tables("link")) read_link(table);
        auto nodes = network_.tables("node");
        if (nodes.empty()) network_.fail("network lacks nodes: write [[network.node]] with a name");
        shape_.where = nodes.front().where();
        for (ProfileTable& table : nodes) read_node(table);
        for (ProfileTable& table : network_.tables("rack")) read_rack(table);
        if (!shape_.racks.empty())
            for (const auto& [node, rack] : rack_of_)
                if (rack.empty())
                    network_.fail(
                        fmt::format("node '{}' is in no rack; where there are racks, every node is "
                                    "in one",
                                    node));
        read_rank_nodes();
        network_.refuse_rest();
        return std::move(shape_);
    }

  private:
    std::string read_name(ProfileTable& table) {
        std::string name = table.required_text("name");
        const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        });
        if (!plain) table.fail("name", "may hold a to z, 0 to 9, '-' and '_' only");
        return name;
    }

    void read_link(ProfileTable& table) {
        LinkKind link;
        link.name = read_name(table);
        if (!link_names_.insert(link.name).second)
            table.fail("name", fmt::format("is '{}', as that of a link before", link.name));
        read_numbers(table, link, link_fields());
        table.refuse_rest();
        shape_.links.push_back(std::move(link));
    }

    /// The name of a link that there is.
    std::string read_link_name(ProfileTable& table, const char* key) {
        std::string name = table.required_text(key);
        if (!link_names_.count(name))
            table.fail(
                key, fmt::format("leads nowhere: no [[network.link]] is named '{}'{}", name,
                                 link_names_.empty() ? ""
                                                     : fmt::format("; there are: {}",
                                                                   fmt::join(link_names_, ", "))));
        return name;
    }

    void read_node(ProfileTable& table) {
        NodeKind node;
        node.name = read_name(table);
        if (const auto count = table.integer("count", 1, most_nodes))
            node.count = static_cast<int>(*count);
        node.ranks = static_cast<int>(table.integer("ranks", 1, most_ranks_of_a_node).value_or(1));
        node.nics = static_cast<int>(table.integer("nics", 1, node.ranks).value_or(1));
        if (node.ranks > 1)
            node.inside = read_link_name(table, "inside");
        else if (table.find("inside"))
            table.fail("inside", "is a link between the ranks of a node, and this one has one");
        if (table.find("outside")) node.outside = read_link_name(table, "outside");
        table.refuse_rest();
        ranks_ += node.count.value_or(1) * node.ranks;
        if (ranks_ > most_ranks)
            table.fail("name", fmt::format("makes more than {} ranks", most_ranks));
        for (const std::string& name : node_names(node)) {
            if (!rack_of_.emplace(name, "").second)
                table.fail("name", fmt::format("makes a second node '{}'", name));
            free_ranks_.emplace(name, node.ranks);
        }
        shape_.nodes.push_back(std::move(node));
    }

    void read_rack(ProfileTable& table) {
        Rack rack;
        rack.name = read_name(table);
        for (const Rack& other : shape_.racks)
            if (other.name == rack.name)
                table.fail("name", fmt::format("is '{}', as that of a rack before", rack.name));
        rack.nodes = table.texts("nodes");
        if (rack.nodes.empty()) table.fail("nodes", "must name at least one node");
        for (const std::string& entry : rack.nodes) {
            const auto names = nodes_meant(entry, rack_of_.size());
            if (names.empty())
                table.fail("nodes", fmt::format("holds '{}', which is more nodes than there are, "
                                                "or no range: write gpu0..gpu7",
                                                entry));
            for (const std::string& name : names) put_into_rack(table, name, rack.name);
        }
        rack.uplink = read_link_name(table, "uplink");
        table.refuse_rest();
        shape_.racks.push_back(std::move(rack));
    }

    void put_into_rack(ProfileTable& table, const std::string& node, const std::string& rack) {
        const auto found = rack_of_.find(node);
        if (found == rack_of_.end())
            table.fail("nodes", fmt::format("holds '{}', and there is no such node", node));
        if (!found->second.empty())
            table.fail("nodes", fmt::format("holds '{}', which is in rack '{}' already", node,
                                            found->second));
        found->second = rack;
    }

    void read_rank_nodes() {
        shape_.rank_nodes = network_.texts("rank_nodes");
        for (std::size_t rank = 0; rank < shape_.rank_nodes.size(); ++rank) {
            const std::string& node = shape_.rank_nodes[rank];
            const auto found = free_ranks_.find(node);
            if (found == free_ranks_.end())
                network_.fail(
                    "rank_nodes",
                    fmt::format("puts rank {} on '{}', and there is no such node", rank, node));
            if (--found->second < 0)
                network_.fail(
                    "rank_nodes",
                    fmt::format("puts rank {} on '{}', whose ranks are all taken", rank, node));
        }
    }

    ProfileTable network_;
    NetworkShape shape_;
    std::set<std::string> link_names_;
    std::map<std::string, std::string> rack_of_;  ///< by node; empty: none yet
    std::map<std::string, int> free_ranks_;       ///< by node
    int ranks_ = 0;
};

}  // namespace

std::span<const ProfileField<LinkKind>> link_fields() {
    using enum ProfileRange;
    static constexpr ProfileField<LinkKind> fields[] = {
        {"bandwidth", "bytes/s", &LinkKind::bandwidth, positive},
        {"efficiency", "", &LinkKind::efficiency, share},
        {"latency_s", "s", &LinkKind::latency_s, at_least_0},
    };
    return fields;
}

std::vector<std::string> node_names(const NodeKind& node) {
    if (!node.count) return {node.name};
    std::vector<std::string> names;
    for (int i = 0; i < *node.count; ++i) names.push_back(fmt::format("{}{}", node.name, i));
    return names;
}

std::vector<std::string> nodes_meant(const std::string& entry, std::size_t most) {
    const std::size_t dots = entry.find("..");
    if (dots == std::string::npos) return {entry};
    // "gpu0" and "gpu7": what is before the number must be the same.
    const auto split = [](const std::string& name) {
        const std::size_t digits = name.find_last_not_of("0123456789") + 1;
        std::size_t number = 0;
        const auto [end, error] =
            std::from_chars(name.data() + digits, name.data() + name.size(), number);
        const bool whole = error == std::errc() && end == name.data() + name.size();
        return std::tuple(name.substr(0, digits), number, whole);
    };
    const auto [prefix, first, first_is_whole] = split(entry.substr(0, dots));
    const auto [other_prefix, last, last_is_whole] = split(entry.substr(dots + 2));
    if (!first_is_whole || !last_is_whole || prefix != other_prefix || last < first ||
        last - first >= most)
        return {};
    std::vector<std::string> names;
    for (std::size_t i = first; i <= last; ++i) names.push_back(fmt::format("{}{}", prefix, i));
    return names;
}

std::optional<NetworkShape> read_network_shape(ProfileTable& file) {
    std::optional<ProfileTable> network = file.table("network");
    if (!network) return std::nullopt;
    return ShapeReader(std::move(*network)).read();
}

std::string to_toml(const NetworkShape& shape) {
    std::string text = "\n[network]\n";
    if (!shape.rank_nodes.empty())
        text += fmt::format("rank_nodes = {}\n", toml_quoted(shape.rank_nodes));
    for (const LinkKind& link : shape.links)
        text += fmt::format("\n[[network.link]]\nname = {}\n", toml_quoted(link.name)) +
                numbers_toml(link, link_fields(), "network.link.");
    for (const NodeKind& node : shape.nodes) {
        text += fmt::format("\n[[network.node]]\nname = {}\n", toml_quoted(node.name));
        if (node.count) text += fmt::format("count = {}\n", *node.count);
        text += fmt::format("ranks = {}\nnics = {}\n", node.ranks, node.nics);
        if (!node.inside.empty()) text += fmt::format("inside = {}\n", toml_quoted(node.inside));
        if (!node.outside.empty()) text += fmt::format("outside = {}\n", toml_quoted(node.outside));
    }
    for (const Rack& rack : shape.racks)
        text +=
            fmt::format("\n[[network.rack]]\nname = {}\nnodes = {}\nuplink = {}\n",
                        toml_quoted(rack.name), toml_quoted(rack.nodes), toml_quoted(rack.uplink));
    return text;
}

nlohmann::json to_json(const NetworkShape& shape) {
    nlohmann::json links = nlohmann::json::object(), nodes = nlohmann::json::array(),
                   racks = nlohmann::json::array();
    for (const LinkKind& link : shape.links) links[link.name] = numbers_json(link, link_fields());
    for (const NodeKind& node : shape.nodes)
        nodes.push_back({{"name", node.name},
                         {"count", node.count ? nlohmann::json(*node.count) : nlohmann::json()},
                         {"ranks", node.ranks},
                         {"nics", node.nics},
                         {"inside", node.inside},
                         {"outside", node.outside}});
    for (const Rack& rack : shape.racks)
        racks.push_back({{"name", rack.name}, {"nodes", rack.nodes}, {"uplink", rack.uplink}});
    return {{"links", links}, {"nodes", nodes}, {"racks", racks}, {"rank_nodes", shape.rank_nodes}};
}

}  // namespace assay
