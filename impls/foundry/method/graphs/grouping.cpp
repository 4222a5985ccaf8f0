#include "impls/foundry/method/graphs/grouping.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <unordered_map>

namespace assay::foundry {
namespace {

constexpr std::size_t word_bytes = 4;

std::int64_t words_of(const std::vector<std::byte>& params) {
    return static_cast<std::int64_t>((params.size() + word_bytes - 1) / word_bytes);
}

std::uint32_t word(const std::vector<std::byte>& params, std::size_t at) {
    std::uint32_t value = 0;
    const std::size_t begin = at * word_bytes;
    if (begin < params.size())
        std::memcpy(&value, params.data() + begin, std::min(word_bytes, params.size() - begin));
    return value;
}

std::int64_t words_that_differ(const Launch& from, const Launch& to) {
    if (from.image != to.image || from.name != to.name) return words_of(to.params);
    const auto words =
        static_cast<std::size_t>(std::max(words_of(from.params), words_of(to.params)));
    std::int64_t count = 0;
    for (std::size_t at = 0; at < words; ++at)
        count += word(from.params, at) != word(to.params, at);
    return count;
}

std::int64_t fields_that_differ(const Fields& from, const Fields& to) {
    std::int64_t count = 0;
    auto a = from.begin(), b = to.begin();
    while (a != from.end() || b != to.end()) {
        if (b == to.end() || (a != from.end() && a->first < b->first)) {
            ++a, ++count;
        } else if (a == from.end() || b->first < a->first) {
            ++b, ++count;
        } else {
            count += a->second != b->second;
            ++a, ++b;
        }
    }
    return count;
}

bool launches_alike(const Launch& from, const Launch& to) {
    return from.image == to.image && from.name == to.name && from.grid == to.grid &&
           from.block == to.block && from.shared_bytes == to.shared_bytes &&
           from.params == to.params;
}

}  // namespace

Differences differences(const Graph& from, const Graph& to) {
    if (!std::ranges::equal(from.nodes, to.nodes, {}, &Node::type, &Node::type))
        throw std::logic_error("differences of graphs whose nodes are of other types");
    Differences found;
    for (std::size_t at = 0; at < from.nodes.size(); ++at) {
        const Node &a = from.nodes[at], &b = to.nodes[at];
        if (launches_alike(a.launch, b.launch) && a.fields == b.fields) continue;
        ++found.nodes;
        found.words += words_that_differ(a.launch, b.launch);
        found.words += 2 * fields_that_differ(a.fields, b.fields);
    }
    return found;
}

Grouping group(std::span<const Graph> graphs, Key key, TemplateChoice choice) {
    std::unordered_map<std::string, std::size_t> groups;  // by key, in the order of appearance
    std::vector<std::size_t> group_of;
    Grouping found;
    for (std::size_t graph = 0; graph < graphs.size(); ++graph) {
        const auto [at, is_new] = groups.emplace(topology_key(graphs[graph], key), groups.size());
        group_of.push_back(at->second);
        if (is_new) {
            found.templates.push_back(graph);
            continue;
        }
        std::size_t& of = found.templates[at->second];
        if (choice == TemplateChoice::largest && graphs[graph].batch > graphs[of].batch) of = graph;
    }
    std::vector<std::string> strong;
    if (key != Key::strong)
        for (const std::size_t of : found.templates) strong.push_back(strong_key(graphs[of]));
    for (std::size_t graph = 0; graph < graphs.size(); ++graph) {
        const std::size_t of = found.templates[group_of[graph]];
        if (of == graph) continue;
        found.members.push_back({graph, of, differences(graphs[of], graphs[graph])});
        if (key != Key::strong) found.mixed += strong_key(graphs[graph]) != strong[group_of[graph]];
    }
    return found;
}

}  // namespace assay::foundry
