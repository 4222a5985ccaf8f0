#include "impls/foundry/method/archive/graph_store.hpp"

#include <algorithm>
#include <utility>

#include "impls/foundry/method/archive/byte_stream.hpp"

namespace assay::foundry {
namespace {

constexpr std::uint32_t unset = ~std::uint32_t{0};

/// Rising, the last one at the end of `bytes`.
void expect_ends(const SectionFile& file, std::span<const std::uint32_t> ends, std::size_t bytes) {
    if (!std::ranges::is_sorted(ends) || (ends.empty() ? 0 : ends.back()) != bytes)
        file.refuse("a table of texts or lists has other ends than its bytes");
}

template <class T>
std::span<const T> entry_of(std::span<const T> bytes, std::span<const std::uint32_t> ends,
                            std::uint32_t number) {
    const std::size_t begin = number == 0 ? 0 : ends[number - 1];
    return bytes.subspan(begin, ends[number] - begin);
}

Integer integer(ByteReader& list) {
    const bool negative = list.number_32(1) == 1;
    const std::uint64_t bits = list.number();
    return {negative ? ~bits : bits, negative};
}

Edge edge(const EdgeRecord& record) {
    return {record.from, record.to, record.from_port, record.to_port, record.type};
}

}  // namespace

GraphStore::GraphStore(SectionFile graphs, SectionFile deltas)
    : graphs_file_(std::move(graphs)), deltas_file_(std::move(deltas)) {
    open_texts();
    open_templates();
    open_members();
}

void GraphStore::open_texts() {
    const SectionFile& file = graphs_file_;
    texts_ = file.array<char>(GraphSection::texts);
    text_ends_ = file.array<std::uint32_t>(GraphSection::text_ends);
    lists_ = file.array<std::byte>(GraphSection::lists);
    list_ends_ = file.array<std::uint32_t>(GraphSection::list_ends);
    expect_ends(file, text_ends_, texts_.size());
    expect_ends(file, list_ends_, lists_.size());
    kernels_ = file.array<KernelRecord>(GraphSection::kernels);
    for (const KernelRecord& kernel : kernels_)
        if (kernel.image >= text_ends_.size() || kernel.name >= text_ends_.size())
            file.refuse("a kernel's image or name is not there");
}

void GraphStore::open_templates() {
    const SectionFile& file = graphs_file_;
    edges_ = file.array<EdgeRecord>(GraphSection::edges);
    params_ = file.array<std::byte>(GraphSection::params);
    for_each_column(
        [&]<class T>(GraphSection id, std::span<const T>& column) { column = file.array<T>(id); },
        columns_);
    const std::size_t nodes = columns_.type.size();
    for_each_column(
        [&](GraphSection, const auto& column) {
            if (column.size() != nodes) file.refuse("its columns are not of one length");
        },
        columns_);
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
        const bool is_kernel = columns_.type[i] == NodeType::kernel;
        if (columns_.type[i] > NodeType::empty || columns_.list[i] >= list_ends_.size() ||
            (is_kernel && columns_.kernel[i] >= kernels_.size()))
            file.refuse("a node refers to what is not there");
        param_offsets_.push_back(offset);
        offset += param_stride(columns_.param_bytes[i]);
    }
    param_offsets_.push_back(offset);
    if (offset != params_.size()) file.refuse("the parameters are not as long as its nodes say");
    std::size_t node = 0, edges = 0;
    for (const TemplateRecord& record : file.array<TemplateRecord>(GraphSection::templates)) {
        if (record.nodes > nodes - node || record.edges > edges_.size() - edges)
            file.refuse("a template has more nodes or edges than there are");
        for (const EdgeRecord& edge : edges_.subspan(edges, record.edges))
            if (edge.from >= record.nodes || edge.to >= record.nodes)
                file.refuse("an edge leads to a node that is not there");
        groups_.push_back({.record = record, .first_node = node, .first_edge = edges});
        node += record.nodes;
        edges += record.edges;
    }
    if (node != nodes || edges != edges_.size())
        file.refuse("nodes or edges belong to no template");
}

void GraphStore::enter(std::uint32_t position, Entry entry, std::string_view file) {
    if (position >= entries_.size() || entries_[position].group != unset)
        throw DamagedArchive(file, "two graphs have one position, or one has none");
    entries_[position] = entry;
}

void GraphStore::open_members() {
    const SectionFile& file = deltas_file_;
    members_ = file.array<MemberRecord>(DeltaSection::members);
    changes_ = file.array<std::byte>(DeltaSection::changes);
    gaps_ = file.array<std::byte>(DeltaSection::gaps);
    words_ = file.array<std::uint32_t>(DeltaSection::words);
    entries_.assign(groups_.size() + members_.size(), {.group = unset});
    for (std::uint32_t i = 0; i < groups_.size(); ++i)
        enter(groups_[i].record.position, {.group = i}, graphs_file_.name());
    Delta end;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const MemberRecord& member = members_[i];
        if (member.group >= groups_.size()) file.refuse("a graph's template is not there");
        enter(member.position, {.group = member.group, .member = static_cast<std::int64_t>(i)},
              file.name());
        deltas_.push_back(end);
        end = {.changes = end.changes + member.change_bytes,
               .gaps = end.gaps + member.gap_bytes,
               .words = end.words + member.words};
    }
    if (end.changes != changes_.size() || end.gaps != gaps_.size() || end.words != words_.size())
        file.refuse("its sections are not as long as its graphs say");
}

std::int64_t GraphStore::batch(std::size_t graph) const {
    const Entry& entry = entries_.at(graph);
    return entry.member < 0 ? groups_[entry.group].record.batch
                            : members_[static_cast<std::size_t>(entry.member)].batch;
}

std::string_view GraphStore::text(std::uint32_t number) const {
    const auto characters = entry_of(texts_, text_ends_, number);
    return {characters.data(), characters.size()};
}

GraphStore::KernelName GraphStore::kernel(std::uint32_t number) const {
    const KernelRecord& kernel = kernels_[number];
    return {.image = text(kernel.image), .name = text(kernel.name)};
}

Attributes GraphStore::list(std::uint32_t number) const {
    ByteReader bytes(entry_of(lists_, list_ends_, number), graphs_file_.name());
    Attributes result;
    while (!bytes.at_end()) {
        const std::uint32_t name = bytes.number_32();
        if (name >= text_ends_.size()) bytes.refuse("the name of an attribute or field is missing");
        result.emplace_back(text(name), Attribute());
        const std::uint64_t count = bytes.number();
        if (count == 0) {
            result.back().second = integer(bytes);
            continue;
        }
        std::vector<Integer> several;
        for (std::uint64_t i = 1; i < count; ++i) several.push_back(integer(bytes));
        result.back().second = std::move(several);
    }
    return result;
}

std::vector<Edge> GraphStore::edges(std::size_t group) const {
    const Group& its = groups_.at(group);
    std::vector<Edge> result;
    result.reserve(its.record.edges);
    for (const EdgeRecord& record : edges_.subspan(its.first_edge, its.record.edges))
        result.push_back(edge(record));
    return result;
}

Graph GraphStore::graph(std::size_t graph) const {
    PreparedGraph prepared;
    prepare(graph, prepared);
    const NodeColumns<Column>& columns = prepared.nodes;
    Graph result{.batch = prepared.batch, .nodes = {}, .edges = edges(prepared.group)};
    result.nodes.resize(columns.type.size());
    for (std::size_t i = 0; i < result.nodes.size(); ++i) {
        Node& node = result.nodes[i];
        node.type = columns.type[i];
        Attributes properties = list(columns.list[i]);
        if (node.type != NodeType::kernel) {
            for (auto& [name, value] : properties) {
                const auto* one = std::get_if<Integer>(&value);
                if (one == nullptr) graphs_file_.refuse("a field is no single number");
                node.fields.emplace_back(std::move(name), *one);
            }
            continue;
        }
        const KernelName launched = kernel(columns.kernel[i]);
        const auto params = prepared.params_of(i);
        node.launch = {.image = std::string(launched.image),
                       .name = std::string(launched.name),
                       .grid = columns.grid[i],
                       .block = columns.block[i],
                       .shared_bytes = columns.shared_bytes[i],
                       .attributes = std::move(properties),
                       .params = {params.begin(), params.end()}};
    }
    return result;
}

}  // namespace assay::foundry
