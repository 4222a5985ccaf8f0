// One graph of a store: its template, with what a member has otherwise.
#include <algorithm>
#include <cstring>

#include "impls/foundry/method/archive/byte_stream.hpp"
#include "impls/foundry/method/archive/graph_store.hpp"

namespace assay::foundry {
namespace {

/// Parameters of another length than the template's.
struct OwnParams {
    std::size_t node = 0;
    std::span<const std::byte> bytes;
};

/// `own` by rising node.
void lay_out_again(const std::vector<OwnParams>& own, PreparedGraph& prepared) {
    std::vector<std::byte> params;
    auto next = own.begin();
    for (std::size_t i = 0; i < prepared.nodes.type.size(); ++i) {
        std::span<const std::byte> bytes = prepared.params_of(i);
        if (next != own.end() && next->node == i) bytes = (next++)->bytes;
        prepared.param_offsets[i] = params.size();
        prepared.nodes.param_bytes[i] = static_cast<std::uint32_t>(bytes.size());
        params.insert(params.end(), bytes.begin(), bytes.end());
        params.resize(param_stride(params.size()));
    }
    prepared.params = std::move(params);
}

}  // namespace

void GraphStore::copy_template(const Group& group, PreparedGraph& prepared) const {
    const std::size_t first = group.first_node, nodes = group.record.nodes;
    for_each_column(
        [&](GraphSection, auto& copy, const auto& column) {
            const auto part = column.subspan(first, nodes);
            copy.assign(part.begin(), part.end());
        },
        prepared.nodes, columns_);
    const std::uint64_t begin = param_offsets_[first], end = param_offsets_[first + nodes];
    prepared.params.assign(params_.data() + begin, params_.data() + end);
    prepared.param_offsets.resize(nodes);
    for (std::size_t i = 0; i < nodes; ++i)
        prepared.param_offsets[i] = param_offsets_[first + i] - begin;
}

void GraphStore::prepare(std::size_t graph, PreparedGraph& prepared) const {
    const Entry& entry = entries_.at(graph);
    prepared.batch = batch(graph);
    prepared.group = entry.group;
    copy_template(groups_[entry.group], prepared);
    if (entry.member < 0) return;
    const auto member = static_cast<std::size_t>(entry.member);
    change_nodes(member, prepared);
    change_words(member, prepared);
}

void GraphStore::change_nodes(std::size_t member, PreparedGraph& prepared) const {
    ByteReader changes(changes_.subspan(deltas_[member].changes, members_[member].change_bytes),
                       deltas_file_.name());
    NodeColumns<Column>& nodes = prepared.nodes;
    std::vector<OwnParams> own;
    for (std::size_t node = 0; !changes.at_end(); ++node) {
        const std::uint64_t gap = changes.number();
        if (gap >= nodes.type.size() - std::min(node, nodes.type.size()))
            changes.refuse("a change is of a node that is not there");
        node += static_cast<std::size_t>(gap);
        const std::uint32_t change = changes.number_32(all_changes);
        if (nodes.type[node] != NodeType::kernel && change != list_changes)
            changes.refuse("a node that is no kernel has a kernel's properties");
        const auto below = [&](std::size_t count) {
            const std::uint32_t number = changes.number_32();
            if (number >= count) changes.refuse("a node refers to what is not there");
            return number;
        };
        if (change & kernel_changes) nodes.kernel[node] = below(kernels_.size());
        if (change & list_changes) nodes.list[node] = below(list_ends_.size());
        if (change & grid_changes)
            for (std::uint32_t& blocks : nodes.grid[node]) blocks = changes.number_32();
        if (change & block_changes)
            for (std::uint32_t& threads : nodes.block[node]) threads = changes.number_32();
        if (change & shared_bytes_change) nodes.shared_bytes[node] = changes.number_32();
        if (change & params_change) own.push_back({node, changes.raw(changes.number_32())});
    }
    if (!own.empty()) lay_out_again(own, prepared);
}

void GraphStore::change_words(std::size_t member, PreparedGraph& prepared) const {
    const MemberRecord& record = members_[member];
    ByteReader gaps(gaps_.subspan(deltas_[member].gaps, record.gap_bytes), deltas_file_.name());
    std::byte* at = prepared.params.data();
    std::uint64_t left = prepared.params.size() / 4;  // words from `at` on
    for (const std::uint32_t word : words_.subspan(deltas_[member].words, record.words)) {
        const std::uint64_t gap = gaps.number();
        if (gap >= left) gaps.refuse("a word lies behind the parameters");
        std::memcpy(at + 4 * gap, &word, sizeof word);
        at += 4 * (gap + 1);
        left -= gap + 1;
    }
    gaps.expect_end();
}

}  // namespace assay::foundry
