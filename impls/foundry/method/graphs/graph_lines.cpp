#include "impls/foundry/method/graphs/graph_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"

namespace assay::foundry {
namespace {

using nlohmann::json;

/// What is wrong with a line; GraphReader adds which one.
struct Refusal {
    std::string why;
};
template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    throw Refusal{fmt::format(text, std::forward<Arguments>(arguments)...)};
}

/// An object of JSON, its place in the line, and which of its keys were read.
class Object {
  public:
    Object(const json& value, std::string place) : value_(value), place_(std::move(place)) {
        if (!value.is_object()) refuse("{}: give an object", place_.empty() ? "a graph" : place_);
    }
    const json* find(const char* key) const {
        const auto found = value_.find(key);
        return found == value_.end() ? nullptr : &*found;
    }
    const json& at(const char* key) const {
        const json* found = find(key);
        if (found == nullptr) refuse("{} is missing", path(key));
        return *found;
    }
    std::string path(std::string_view key) const {
        return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
    }
    void only(std::initializer_list<std::string_view> known) const {
        for (const auto& [key, value] : value_.items())
            if (std::ranges::find(known, key) == known.end())
                refuse("{} is not known; there may be {}", path(key), fmt::join(known, ", "));
    }

  private:
    const json& value_;
    std::string place_;
};

std::int64_t whole(const json& value, const std::string& place, std::int64_t least,
                   std::int64_t most) {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() ||
                       value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) &&
                      value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most;
    if (!fits) refuse("{}: give a whole number from {} to {}", place, least, most);
    return value.get<std::int64_t>();
}

constexpr std::int64_t most_32 = std::numeric_limits<std::uint32_t>::max();

Integer integer(const json& value, const std::string& place) {
    if (value.is_number_unsigned()) return Integer::of(value.get<std::uint64_t>());
    if (value.is_number_integer()) return Integer::of(value.get<std::int64_t>());
    refuse("{}: give a whole number of 64 bits", place);
}

std::string text(const json& value, const std::string& place) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
        refuse("{}: give a text", place);
    return value.get<std::string>();
}

const json& list(const json& value, const std::string& place) {
    if (!value.is_array()) refuse("{}: give a list", place);
    return value;
}

Extent extent(const json& value, const std::string& place) {
    if (!value.is_array() || value.size() != 3) refuse("{}: give [x, y, z]", place);
    Extent result;
    for (std::size_t i = 0; i < 3; ++i)
        result[i] = static_cast<std::uint32_t>(whole(value[i], place, 1, most_32));
    return result;
}

std::vector<std::byte> from_hex(const json& value, const std::string& place) {
    if (!value.is_string()) refuse("{}: give hexadecimal digits", place);
    const auto& digits = value.get_ref<const std::string&>();
    if (digits.size() % 2 != 0)
        refuse("{}: {} hexadecimal digits; two make a byte, so their number is even", place,
               digits.size());
    const auto digit = [&](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        refuse("{}: '{}' is no hexadecimal digit", place, c);
    };
    std::vector<std::byte> bytes(digits.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
    return bytes;
}

Attributes attributes(const json& value, const std::string& place) {
    const Object object(value, place);
    Attributes result;
    for (const auto& [name, each] : value.items()) {
        const std::string path = object.path(name);
        if (name == "cluster") {
            const std::size_t dimensions = each.is_array() ? each.size() : 1;
            if (dimensions < 1 || dimensions > 3) refuse("{}: give [x, y, z]", path);
            for (const json& blocks : each.is_array() ? each : json::array({each}))
                whole(blocks, path, 1, most_32);
        }
        if (!each.is_array()) {
            result.emplace_back(name, integer(each, path));
            continue;
        }
        std::vector<Integer> several;
        for (const json& one : each) several.push_back(integer(one, path));
        result.emplace_back(name, std::move(several));
    }
    return result;
}

Fields fields(const json& value, const std::string& place) {
    const Object object(value, place);
    Fields result;
    for (const auto& [name, each] : value.items())
        result.emplace_back(name, integer(each, object.path(name)));
    return result;
}

Node node(const json& value, const std::string& place) {
    const Object object(value, place);
    const std::string type = text(object.at("type"), object.path("type"));
    const auto known = of_word<NodeType>(type);
    if (!known) {
        std::vector<std::string_view> words;
        for (const auto& [each, word] : names_of(NodeType())) words.push_back(word);
        refuse("{}: a node of type '{}' cannot be built again; supported are {}", place, type,
               fmt::join(words, ", "));
    }
    Node result{.type = *known, .launch = {}, .fields = {}};
    if (*known != NodeType::kernel) {
        object.only({"type", "fields"});
        if (const json* given = object.find("fields"))
            result.fields = fields(*given, object.path("fields"));
        return result;
    }
    object.only({"type", "image", "name", "grid", "block", "smem", "attrs", "params"});
    Launch& launch = result.launch;
    launch.image = text(object.at("image"), object.path("image"));
    launch.name = text(object.at("name"), object.path("name"));
    launch.grid = extent(object.at("grid"), object.path("grid"));
    launch.block = extent(object.at("block"), object.path("block"));
    launch.shared_bytes =
        static_cast<std::uint32_t>(whole(object.at("smem"), object.path("smem"), 0, most_32));
    if (const json* given = object.find("attrs"))
        launch.attributes = attributes(*given, object.path("attrs"));
    launch.params = from_hex(object.at("params"), object.path("params"));
    return result;
}

Edge edge(const json& value, const std::string& place, const std::vector<Node>& nodes) {
    if (!value.is_array() || (value.size() != 2 && value.size() != 5))
        refuse("{}: give [from, to] or [from, to, from_port, to_port, type]", place);
    const auto end = [&](std::size_t at) {
        const auto last = static_cast<std::int64_t>(nodes.size()) - 1;
        return static_cast<std::uint32_t>(whole(value[at], place, 0, last));
    };
    const auto small = [&](std::size_t at) {
        return static_cast<std::uint8_t>(whole(value[at], place, 0, 255));
    };
    Edge result{.from = end(0), .to = end(1)};
    if (result.from == result.to) refuse("{}: node {} depends on itself", place, result.from);
    if (value.size() == 2) return result;
    result.from_port = small(2);
    result.to_port = small(3);
    result.type = small(4);
    const auto is_kernel = [&](std::uint32_t at) { return nodes[at].type == NodeType::kernel; };
    if (result.type == 1 && !(is_kernel(result.from) && is_kernel(result.to)))
        refuse("{}: only kernels have programmatic edges between them", place);
    return result;
}

/// In rising order. Of edges the driver knows one at most between two nodes, whatever its type.
std::vector<Edge> edges(const json& value, const std::vector<Node>& nodes) {
    std::vector<Edge> result;
    for (const json& each : list(value, "edges"))
        result.push_back(edge(each, fmt::format("edges[{}]", result.size()), nodes));
    std::ranges::sort(result);
    for (std::size_t i = 1; i < result.size(); ++i)
        if (result[i].from == result[i - 1].from && result[i].to == result[i - 1].to)
            refuse("edges: the one from {} to {} stands twice", result[i].from, result[i].to);
    return result;
}

/// `edges` in rising order.
void refuse_cycle(std::size_t nodes, const std::vector<Edge>& edges) {
    std::vector<std::uint32_t> waits(nodes, 0), ready;
    for (const Edge& edge : edges) ++waits[edge.to];
    for (std::uint32_t node = 0; node < nodes; ++node)
        if (waits[node] == 0) ready.push_back(node);
    std::size_t done = 0;
    for (; done < ready.size(); ++done)
        for (auto out = std::ranges::lower_bound(edges, ready[done], {}, &Edge::from);
             out != edges.end() && out->from == ready[done]; ++out)
            if (--waits[out->to] == 0) ready.push_back(out->to);
    if (done == nodes) return;
    const auto first = std::ranges::find_if(waits, [](std::uint32_t n) { return n > 0; });
    refuse("edges: a cycle; node {} can never begin", first - waits.begin());
}

Graph graph(const json& value) {
    const Object object(value, "");
    object.only({"batch", "nodes", "edges"});
    Graph result;
    result.batch = whole(object.at("batch"), "batch", 1, std::int64_t{1} << 53);
    for (const json& each : list(object.at("nodes"), "nodes"))
        result.nodes.push_back(node(each, fmt::format("nodes[{}]", result.nodes.size())));
    if (const json* given = object.find("edges")) result.edges = edges(*given, result.nodes);
    refuse_cycle(result.nodes.size(), result.edges);
    return result;
}

json to_json(const Integer& value) {
    return value.negative ? json(static_cast<std::int64_t>(value.bits)) : json(value.bits);
}

nlohmann::ordered_json to_json(const Node& node) {
    if (node.type != NodeType::kernel) {
        auto fields = json::object();
        for (const auto& [name, value] : node.fields) fields[name] = to_json(value);
        return {{"type", to_string(node.type)}, {"fields", fields}};
    }
    const Launch& launch = node.launch;
    auto attributes = json::object();
    for (const auto& [name, value] : launch.attributes) {
        if (const auto* one = std::get_if<Integer>(&value)) {
            attributes[name] = to_json(*one);
            continue;
        }
        auto& several = attributes[name] = json::array();
        for (const Integer& each : std::get<std::vector<Integer>>(value))
            several.push_back(to_json(each));
    }
    std::string hex;
    for (const std::byte byte : launch.params) {
        constexpr std::string_view digits = "0123456789abcdef";
        hex += digits[static_cast<std::size_t>(byte >> 4)];
        hex += digits[static_cast<std::size_t>(byte & std::byte{15})];
    }
    return {{"type", to_string(node.type)}, {"image", launch.image}, {"name", launch.name},
            {"grid", launch.grid},          {"block", launch.block}, {"smem", launch.shared_bytes},
            {"attrs", attributes},          {"params", hex}};
}

}  // namespace

std::optional<Graph> GraphReader::next() {
    for (std::string line; std::getline(in_, line);) {
        ++line_;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        try {
            Graph read = graph(parse_json(line));
            const auto [earlier, is_new] = lines_of_.emplace(read.batch, line_);
            if (!is_new)
                refuse("batch {} has a graph already, in line {}", read.batch, earlier->second);
            return read;
        } catch (const Refusal& refusal) {
            throw UserError(fmt::format("{}:{}: {}", name_, line_, refusal.why));
        } catch (const JsonError& error) {
            throw UserError(
                fmt::format("{}:{}: column {}: {}", name_, line_, error.column, error.what()));
        }
    }
    if (in_.bad()) throw UserError(fmt::format("{}: reading it failed", name_));
    if (lines_of_.empty())
        throw UserError(fmt::format("{}:{}: there is no graph; give one in each line", name_,
                                    std::max<std::size_t>(line_, 1)));
    return std::nullopt;
}

std::vector<Graph> read_graphs(std::istream& in, const std::string& name) {
    std::vector<Graph> graphs;
    GraphReader reader(in, name);
    while (auto graph = reader.next()) graphs.push_back(std::move(*graph));
    return graphs;
}

std::string to_line(const Graph& graph) {
    auto nodes = nlohmann::ordered_json::array(), edges = nlohmann::ordered_json::array();
    for (const Node& node : graph.nodes) nodes.push_back(to_json(node));
    for (const Edge& edge : graph.edges) {
        nlohmann::ordered_json ends{edge.from, edge.to};
        if (edge.from_port != 0 || edge.to_port != 0 || edge.type != 0)
            for (const int each : {edge.from_port, edge.to_port, edge.type}) ends.push_back(each);
        edges.push_back(std::move(ends));
    }
    const nlohmann::ordered_json line{
        {"batch", graph.batch}, {"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
    return line.dump();
}

}  // namespace assay::foundry
