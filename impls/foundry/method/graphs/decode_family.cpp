#include "impls/foundry/method/graphs/decode_family.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>

namespace assay::foundry {
namespace {

constexpr std::uint64_t base = 0x600040000000, mib = 1 << 20;
constexpr std::uint32_t hidden = 2048, tile_rows = 64;

/// How often a change was turned by the rules up to a batch size, per kind.
using Turns = std::array<int, names_of(Change()).size()>;
Turns turns(const std::vector<Rule>& rules, std::int64_t batch) {
    Turns count{};
    for (const Rule& rule : rules)
        if (batch >= rule.from) ++count[static_cast<std::size_t>(rule.change)];
    return count;
}

class Builder {
  public:
    Builder(int layers, std::int64_t batch, const Turns& turns)
        : turns_(turns), batch_(static_cast<std::uint32_t>(batch)) {
        graph_.batch = batch;
        const std::uint32_t rows = is(Change::rows) ? 2 : 1;
        add({.type = NodeType::memset,
             .launch = {},
             .fields = {{"dst", Integer::of(base + mib)},
                        {"elementSize", Integer::of(std::uint64_t{4})},
                        {"height", Integer::of(std::uint64_t{rows})},
                        {"pitch", Integer::of(std::uint64_t{4096})},
                        {"value", Integer::of(std::uint64_t{0})},
                        {"width", Integer::of(std::uint64_t{batch_})}}});
        kernel("embed", batch_, {weight(0, 0), activation(0)});
        for (int layer = 0; layer < layers; ++layer) add_layer(layer);
        kernel("norm", batch_, {activation(0), weight(layers, 0), activation(1)});
        product("logits", {activation(1), weight(layers, 1), activation(2)});
        kernel("sample", batch_, {activation(2), base + 2 * mib});
        std::ranges::sort(graph_.edges);
    }
    Graph take() { return std::move(graph_); }

  private:
    bool is(Change change) const { return turns_[static_cast<std::size_t>(change)] % 2 == 1; }
    static std::uint64_t weight(int layer, int which) {
        return base + static_cast<std::uint64_t>(64 + 16 * layer + 2 * which) * mib;
    }
    /// Buffers of a graph lie one behind another, as long as its batch wants them.
    std::uint64_t activation(int which) const {
        return base + 16 * mib + static_cast<std::uint64_t>(which) * batch_ * hidden * 4;
    }

    std::uint32_t add(Node node) {
        graph_.nodes.push_back(std::move(node));
        const auto at = static_cast<std::uint32_t>(graph_.nodes.size() - 1);
        if (at > 0) graph_.edges.push_back(edge(at - 1, at));
        return at;
    }
    Edge edge(std::uint32_t from, std::uint32_t to) const {
        const auto is_kernel = [&](std::uint32_t at) {
            return graph_.nodes[at].type == NodeType::kernel;
        };
        Edge edge{.from = from, .to = to};
        if (is(Change::programmatic) && is_kernel(from) && is_kernel(to)) {
            edge.from_port = 1;
            edge.type = 1;
        }
        return edge;
    }
    std::uint32_t kernel(std::string name, std::uint32_t blocks,
                         const std::vector<std::uint64_t>& pointers, Attributes attributes = {}) {
        Launch launch{.image = std::string(64, '0'),
                      .name = std::move(name),
                      .grid = {blocks, 1, 1},
                      .block = {128, 1, 1},
                      .shared_bytes = 0,
                      .attributes = std::move(attributes),
                      .params = std::vector<std::byte>(8 * pointers.size() + 8)};
        std::memcpy(launch.params.data(), pointers.data(), 8 * pointers.size());
        std::memcpy(launch.params.data() + 8 * pointers.size(), &batch_, sizeof batch_);
        return add({.type = NodeType::kernel, .launch = std::move(launch), .fields = {}});
    }
    std::uint32_t product(const std::string& name, const std::vector<std::uint64_t>& pointers) {
        Attributes attributes;
        if (const int turned = turns_[static_cast<std::size_t>(Change::cluster)]; turned > 0) {
            const std::int64_t wide = turned % 2 == 1 ? 2 : 1;
            attributes.emplace_back("cluster",
                                    std::vector{Integer::of(wide), Integer::of(std::int64_t{1}),
                                                Integer::of(std::int64_t{1})});
        }
        if (is(Change::priority))
            attributes.emplace_back("priority", Integer::of(std::int64_t{-1}));
        const std::uint32_t tiles = (batch_ + tile_rows - 1) / tile_rows;
        return kernel(name + (is(Change::tile) ? "_128x64" : "_64x64"), 16 * tiles, pointers,
                      std::move(attributes));
    }

    void add_layer(int layer) {
        kernel("norm", batch_, {activation(0), weight(layer, 0), activation(1)});
        product("qkv", {activation(1), weight(layer, 1), activation(2)});
        const std::uint32_t rope = kernel("rope", batch_, {activation(2), base + 3 * mib});
        Attributes attention;
        if (is(Change::cooperative))
            attention.emplace_back("cooperative", Integer::of(std::int64_t{1}));
        const std::uint64_t cache = base + static_cast<std::uint64_t>(4096 + 64 * layer) * mib;
        kernel(is(Change::reduce) ? "attention_split" : "attention", batch_,
               {activation(2), cache, base + 4 * mib, activation(3)}, std::move(attention));
        if (is(Change::reduce)) kernel("attention_reduce", batch_, {activation(3), base + mib});
        product("out", {activation(3), weight(layer, 2), activation(0)});
        const std::uint32_t norm =
            kernel("norm", batch_, {activation(0), weight(layer, 3), activation(1)});
        product("up", {activation(1), weight(layer, 4), activation(4)});
        kernel("silu", batch_, {activation(4), activation(5)});
        const std::uint32_t down =
            product("down", {activation(5), weight(layer, 5), activation(0)});
        graph_.edges.push_back(edge(is(Change::edges) ? norm : rope, down));
    }

    Turns turns_;
    std::uint32_t batch_;
    Graph graph_;
};

}  // namespace

bool seen_by(Key key, Change change) {
    if (change == Change::tile) return false;
    return key == Key::strong || change == Change::reduce || change == Change::cluster;
}

Graph DecodeFamily::graph(std::int64_t batch) const {
    return Builder(layers, batch, turns(rules, batch)).take();
}

std::vector<Graph> DecodeFamily::graphs(std::int64_t largest) const {
    std::vector<Graph> all;
    for (std::int64_t batch = 1; batch <= largest; ++batch) all.push_back(graph(batch));
    return all;
}

std::int64_t DecodeFamily::groups(std::int64_t largest, Key key) const {
    std::set<Turns> distinct;
    for (std::int64_t batch = 1; batch <= largest; ++batch) {
        Turns seen = turns(rules, batch);
        for (const auto& [change, word] : names_of(Change())) {
            int& count = seen[static_cast<std::size_t>(change)];
            count = seen_by(key, change) ? count % 2 : 0;
        }
        distinct.insert(seen);
    }
    return static_cast<std::int64_t>(distinct.size());
}

}  // namespace assay::foundry
