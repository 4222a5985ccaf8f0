#include "impls/foundry/method/graphs/topology_key.hpp"

#include <algorithm>
#include <cstring>

namespace assay::foundry {
namespace {

/// Lengths stand before what they count, so that no two graphs have the same bytes by accident.
class KeyText {
  public:
    template <class Number>
    void number(Number value) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        text_.append(bytes, sizeof value);
    }
    void word(std::string_view word) {
        number(word.size());
        text_ += word;
    }
    void integer(const Integer& value) {
        number(value.bits);
        number(value.negative);
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

void add_attribute(KeyText& text, const std::string& name, const Attribute& value) {
    text.word(name);
    text.number(value.index());
    if (const auto* one = std::get_if<Integer>(&value)) {
        text.integer(*one);
        return;
    }
    const auto& several = std::get<std::vector<Integer>>(value);
    text.number(several.size());
    for (const Integer& each : several) text.integer(each);
}

void add_node(KeyText& text, const Node& node, Key key) {
    text.number(node.type);
    if (node.type == NodeType::kernel)
        for (const std::uint32_t blocks : cluster(node.launch)) text.number(blocks);
    if (key == Key::paper) return;
    const Integer height = field(node.fields, "height");
    text.number(!height.negative && height.bits > 1);
    const auto others = std::ranges::count_if(
        node.launch.attributes, [](const auto& one) { return one.first != "cluster"; });
    text.number(others);
    for (const auto& [name, value] : node.launch.attributes)
        if (name != "cluster") add_attribute(text, name, value);
}

}  // namespace

std::string topology_key(const Graph& graph, Key key) {
    KeyText text;
    text.number(graph.nodes.size());
    for (const Node& node : graph.nodes) add_node(text, node, key);
    if (key == Key::paper) return text.take();
    std::vector<Edge> edges = graph.edges;
    std::ranges::sort(edges);
    for (const Edge& edge : edges) {
        text.number(edge.from);
        text.number(edge.to);
        text.number(edge.from_port);
        text.number(edge.to_port);
        text.number(edge.type);
    }
    return text.take();
}

std::string kernel_signature(const Graph& graph) {
    std::string text = strong_key(graph);
    for (const Node& node : graph.nodes) text += node.launch.image + node.launch.name + '\0';
    return text;
}

}  // namespace assay::foundry
