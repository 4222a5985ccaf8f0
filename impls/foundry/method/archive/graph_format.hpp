// What lies in graphs.bin and deltas.bin. Texts, kernels and lists (a kernel's attributes, another
// node's fields) stand once each and are referred to by number. Of each group the first graph is
// the template, whole in graphs.bin with one column for each property of its nodes; every other
// graph is in deltas.bin: the nodes whose properties differ, and the 32-bit words of parameters
// that do.
//
// Parameters of a graph are one block, those of each node behind those of the node before at the
// next multiple of eight bytes, zeros between.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "impls/foundry/method/graphs/graph.hpp"

namespace assay::foundry {

inline constexpr std::string_view graphs_magic = "assay-gr", deltas_magic = "assay-de";

enum class GraphSection : std::uint32_t {
    texts = 1,  ///< bytes
    text_ends,  ///< u32: where each ends
    kernels,    ///< KernelRecord
    lists,      ///< bytes: names and numbers of ByteWriter
    list_ends,  ///< u32: where each ends
    templates,  ///< TemplateRecord, in the order in which groups appear
    edges,      ///< EdgeRecord, of one template behind another
    type,       ///< from here on a column for each property: of one template behind another
    kernel,
    list,
    grid,
    block,
    shared_bytes,
    param_bytes,
    params,  ///< bytes
};

enum class DeltaSection : std::uint32_t {
    members = 1,  ///< MemberRecord, in the order of the graphs
    changes,      ///< bytes: nodes and which properties they have otherwise, numbers of ByteWriter
    gaps,         ///< bytes: words left out before each that differs, numbers of ByteWriter
    words,        ///< u32: what they are instead
};

struct KernelRecord {
    std::uint32_t image = 0, name = 0;  ///< texts

    auto operator<=>(const KernelRecord&) const = default;
};

struct TemplateRecord {
    std::int64_t batch = 0;
    std::uint32_t position = 0;  ///< among all graphs, as they were given
    std::uint32_t nodes = 0, edges = 0;
    std::uint32_t zero = 0;
};

struct EdgeRecord {
    std::uint32_t from = 0, to = 0;
    std::uint8_t from_port = 0, to_port = 0, type = 0, zero = 0;
};

struct MemberRecord {
    std::int64_t batch = 0;
    std::uint32_t position = 0;
    std::uint32_t group = 0;
    std::uint32_t change_bytes = 0, gap_bytes = 0, words = 0;  ///< its part of each section
    std::uint32_t zero = 0;
};

/// Properties that a member's node may have otherwise than its template's, as bits of a number.
/// params: their length differs, and all of them follow.
enum NodeChange : std::uint32_t {
    kernel_changes = 1,
    list_changes = 2,
    grid_changes = 4,
    block_changes = 8,
    shared_bytes_change = 16,
    params_change = 32,
    all_changes = 63
};

/// Properties of nodes, of which those of kernels are 0 for other nodes.
template <template <class> class Array>
struct NodeColumns {
    Array<NodeType> type;
    Array<std::uint32_t> kernel;  ///< KernelRecord
    Array<std::uint32_t> list;    ///< attributes of a kernel, fields of another node
    Array<Extent> grid, block;
    Array<std::uint32_t> shared_bytes, param_bytes;
};
template <class T>
using Column = std::vector<T>;
template <class T>
using ColumnView = std::span<const T>;

/// visit(section, column of each of `columns`)
template <class Visit, class... Columns>
void for_each_column(Visit&& visit, Columns&&... columns) {
    visit(GraphSection::type, columns.type...);
    visit(GraphSection::kernel, columns.kernel...);
    visit(GraphSection::list, columns.list...);
    visit(GraphSection::grid, columns.grid...);
    visit(GraphSection::block, columns.block...);
    visit(GraphSection::shared_bytes, columns.shared_bytes...);
    visit(GraphSection::param_bytes, columns.param_bytes...);
}

/// From one node's parameters to the next one's.
constexpr std::uint64_t param_stride(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace assay::foundry
