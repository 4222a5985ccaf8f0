#include "impls/foundry/method/archive/graph_encoder.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "impls/foundry/method/graphs/topology_key.hpp"
#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"

namespace assay::foundry {
namespace {

std::uint32_t number_32(std::size_t value) {
    if (value > std::numeric_limits<std::uint32_t>::max())
        throw UserError(
            "the graphs have more than 2^32 bytes, nodes or words of one kind; pack fewer of them "
            "into an archive");
    return static_cast<std::uint32_t>(value);
}

void add_integer(ByteWriter& list, const Integer& value) {
    list.number(value.negative ? 1 : 0);
    list.number(value.negative ? ~value.bits : value.bits);
}

EdgeRecord record(const Edge& edge) {
    return {.from = edge.from,
            .to = edge.to,
            .from_port = edge.from_port,
            .to_port = edge.to_port,
            .type = edge.type};
}

}  // namespace

std::uint32_t DistinctBytes::number(std::string_view bytes) {
    const auto [found, is_new] = known_.try_emplace(std::string(bytes), number_32(ends_.size()));
    if (is_new) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        ends_.push_back(number_32(bytes_.size()));
    }
    return found->second;
}

std::uint32_t GraphEncoder::kernel_number(const Launch& launch) {
    const KernelRecord kernel{.image = texts_.number(launch.image),
                              .name = texts_.number(launch.name)};
    const auto [found, is_new] = known_kernels_.try_emplace(kernel, number_32(kernels_.size()));
    if (is_new) kernels_.push_back(kernel);
    return found->second;
}

std::uint32_t GraphEncoder::list_number(const Node& node) {
    ByteWriter list;
    for (const auto& [name, value] : node.fields) {
        list.number(texts_.number(name));
        list.number(0);
        add_integer(list, value);
    }
    for (const auto& [name, value] : node.launch.attributes) {
        list.number(texts_.number(name));
        if (const auto* one = std::get_if<Integer>(&value)) {
            list.number(0);
            add_integer(list, *one);
            continue;
        }
        const auto& several = std::get<std::vector<Integer>>(value);
        list.number(several.size() + 1);
        for (const Integer& each : several) add_integer(list, each);
    }
    return lists_.number({reinterpret_cast<const char*>(list.bytes().data()), list.size()});
}

void GraphEncoder::add(const Graph& graph) {
    if (!std::ranges::is_sorted(graph.edges))
        throw std::logic_error("the edges of a graph are not in rising order");
    const std::string key = sha256_hex(strong_key(graph));
    const auto [found, is_new] = group_of_.try_emplace(key, number_32(groups_.size()));
    if (is_new)
        add_template(graph, key);
    else
        add_member(graph, found->second);
    batches_.push_back(graph.batch);
}

void GraphEncoder::add_node(const Node& node) {
    const bool is_kernel = node.type == NodeType::kernel;
    const Launch& launch = node.launch;
    columns_.type.push_back(node.type);
    columns_.kernel.push_back(is_kernel ? kernel_number(launch) : 0);
    columns_.list.push_back(list_number(node));
    columns_.grid.push_back(is_kernel ? launch.grid : Extent{});
    columns_.block.push_back(is_kernel ? launch.block : Extent{});
    columns_.shared_bytes.push_back(launch.shared_bytes);
    columns_.param_bytes.push_back(number_32(launch.params.size()));
    params_.insert(params_.end(), launch.params.begin(), launch.params.end());
    params_.resize(param_stride(params_.size()));
}

void GraphEncoder::add_template(const Graph& graph, std::string key) {
    templates_.push_back({.batch = graph.batch,
                          .position = number_32(batches_.size()),
                          .nodes = number_32(graph.nodes.size()),
                          .edges = number_32(graph.edges.size())});
    begins_.push_back(
        {.node = columns_.type.size(), .edge = edges_.size(), .param = params_.size()});
    for (const Node& node : graph.nodes) add_node(node);
    for (const Edge& edge : graph.edges) edges_.push_back(record(edge));
    groups_.push_back({.key = std::move(key), .template_batch = graph.batch, .members = {}});
}

std::uint32_t GraphEncoder::change_of(const Node& node, std::size_t at, std::size_t gap) {
    const bool is_kernel = node.type == NodeType::kernel;
    const Launch& launch = node.launch;
    const std::uint32_t kernel = is_kernel ? kernel_number(launch) : 0, list = list_number(node);
    std::uint32_t change = 0;
    if (kernel != columns_.kernel[at]) change |= kernel_changes;
    if (list != columns_.list[at]) change |= list_changes;
    if (is_kernel && launch.grid != columns_.grid[at]) change |= grid_changes;
    if (is_kernel && launch.block != columns_.block[at]) change |= block_changes;
    if (launch.shared_bytes != columns_.shared_bytes[at]) change |= shared_bytes_change;
    if (launch.params.size() != columns_.param_bytes[at]) change |= params_change;
    if (change == 0) return 0;
    changes_.number(gap);
    changes_.number(change);
    if (change & kernel_changes) changes_.number(kernel);
    if (change & list_changes) changes_.number(list);
    if (change & grid_changes)
        for (const std::uint32_t blocks : launch.grid) changes_.number(blocks);
    if (change & block_changes)
        for (const std::uint32_t threads : launch.block) changes_.number(threads);
    if (change & shared_bytes_change) changes_.number(launch.shared_bytes);
    if (change & params_change) {
        changes_.number(number_32(launch.params.size()));
        changes_.raw(launch.params);
    }
    return change;
}

/// `params` of one node against its template's, of the same length; `same`: words that were equal
/// since the last one that was not.
void GraphEncoder::compare_params(std::span<const std::byte> params, std::span<const std::byte> to,
                                  std::uint64_t& same) {
    const std::uint64_t words = param_stride(params.size()) / 4;
    if (std::ranges::equal(params, to)) {
        same += words;
        return;
    }
    for (std::uint64_t word = 0; word < words; ++word) {
        std::uint32_t mine = 0, its = 0;  // behind the last byte there are zeros
        if (const std::uint64_t at = 4 * word; at < params.size()) {
            const std::size_t bytes = std::min<std::size_t>(4, params.size() - at);
            std::memcpy(&mine, params.data() + at, bytes);
            std::memcpy(&its, to.data() + at, bytes);
        }
        if (mine == its) {
            ++same;
            continue;
        }
        gaps_.number(same);
        words_.push_back(mine);
        same = 0;
    }
}

void GraphEncoder::add_member(const Graph& graph, std::uint32_t group) {
    const TemplateRecord& whole = templates_[group];
    const Begin begin = begins_[group];
    const auto same_topology = [&] {
        const auto is_edge = [](const Edge& edge, const EdgeRecord& its) {
            return edge == Edge{its.from, its.to, its.from_port, its.to_port, its.type};
        };
        const auto edges = std::span(edges_).subspan(begin.edge, whole.edges);
        const auto types = std::span(columns_.type).subspan(begin.node, whole.nodes);
        return std::ranges::equal(graph.edges, edges, is_edge) &&
               std::ranges::equal(graph.nodes, types, {}, &Node::type);
    };
    if (!same_topology()) throw std::logic_error("graphs of one strong key are of two topologies");
    const std::size_t changes_before = changes_.size(), gaps_before = gaps_.size(),
                      words_before = words_.size();
    std::size_t unchanged = 0, param = begin.param;
    std::uint64_t same_words = 0;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const std::size_t at = begin.node + i;
        const std::span<const std::byte> params = graph.nodes[i].launch.params;
        const std::uint32_t change = change_of(graph.nodes[i], at, unchanged);
        unchanged = change == 0 ? unchanged + 1 : 0;
        if (change & params_change)
            same_words += param_stride(params.size()) / 4;  // they stand among the changes
        else
            compare_params(params, std::span(params_).subspan(param, params.size()), same_words);
        param += param_stride(columns_.param_bytes[at]);
    }
    members_.push_back({.batch = graph.batch,
                        .position = number_32(batches_.size()),
                        .group = group,
                        .change_bytes = number_32(changes_.size() - changes_before),
                        .gap_bytes = number_32(gaps_.size() - gaps_before),
                        .words = number_32(words_.size() - words_before)});
    groups_[group].members.push_back(graph.batch);
}

void GraphEncoder::write_graphs(const ByteSink& sink) const {
    SectionWriter file(graphs_magic);
    file.add(GraphSection::texts, texts_.bytes());
    file.add(GraphSection::text_ends, texts_.ends());
    file.add(GraphSection::kernels, kernels_);
    file.add(GraphSection::lists, lists_.bytes());
    file.add(GraphSection::list_ends, lists_.ends());
    file.add(GraphSection::templates, templates_);
    file.add(GraphSection::edges, edges_);
    for_each_column([&](GraphSection id, const auto& column) { file.add(id, column); }, columns_);
    file.add(GraphSection::params, params_);
    file.write(sink);
}

void GraphEncoder::write_deltas(const ByteSink& sink) const {
    SectionWriter file(deltas_magic);
    file.add(DeltaSection::members, members_);
    file.add(DeltaSection::changes, changes_.bytes());
    file.add(DeltaSection::gaps, gaps_.bytes());
    file.add(DeltaSection::words, words_);
    file.write(sink);
}

}  // namespace assay::foundry
