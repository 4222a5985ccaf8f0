// The graphs of an archive, read where they lie. Opening checks what all of them share; each graph
// is checked as it is asked for. No input leads to an access outside of the bytes, nor to more
// memory than a graph's own parts need: any that no encoder writes is a DamagedArchive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "impls/foundry/method/archive/graph_format.hpp"
#include "impls/foundry/method/archive/section_file.hpp"
#include "impls/foundry/method/graphs/graph.hpp"

namespace assay::foundry {

/// What building a graph, or making an executable one launch as it, needs of each node: the
/// columns, and the parameters at addresses that launches can be given. May be used for one graph
/// after another, and then allocates nothing new.
struct PreparedGraph {
    std::int64_t batch = 0;
    std::size_t group = 0;
    NodeColumns<Column> nodes;
    std::vector<std::uint64_t> param_offsets;  ///< into params, of each node; multiples of 8
    std::vector<std::byte> params;

    std::span<const std::byte> params_of(std::size_t node) const {
        return std::span(params).subspan(param_offsets[node], nodes.param_bytes[node]);
    }
};

class GraphStore {
  public:
    /// The bytes must stay valid.
    GraphStore(SectionFile graphs, SectionFile deltas);

    std::size_t size() const { return entries_.size(); }
    std::size_t groups() const { return groups_.size(); }
    /// A graph is called by its position among all, as they were given.
    std::int64_t batch(std::size_t graph) const;
    std::size_t group(std::size_t graph) const { return entries_.at(graph).group; }
    std::size_t template_of(std::size_t group) const { return groups_.at(group).record.position; }
    bool is_template(std::size_t graph) const { return entries_.at(graph).member < 0; }

    Graph graph(std::size_t graph) const;
    void prepare(std::size_t graph, PreparedGraph& prepared) const;

    /// Of all graphs of a group, in rising order.
    std::vector<Edge> edges(std::size_t group) const;
    /// What PreparedGraph's numbers stand for: columns `kernel` and `list`. Attributes of a kernel;
    /// of another node fields, each one number.
    struct KernelName {
        std::string_view image, name;
    };
    std::size_t kernels() const { return kernels_.size(); }
    KernelName kernel(std::uint32_t number) const;
    Attributes list(std::uint32_t number) const;

  private:
    struct Entry {
        std::uint32_t group = 0;
        std::int64_t member = -1;  ///< -1: the group's template
    };
    struct Group {
        TemplateRecord record;
        std::size_t first_node = 0, first_edge = 0;
    };
    /// A member's parts of the sections.
    struct Delta {
        std::uint64_t changes = 0, gaps = 0, words = 0;
    };
    void open_texts();
    void open_templates();
    void open_members();
    void enter(std::uint32_t position, Entry entry, std::string_view file);
    void copy_template(const Group& group, PreparedGraph& prepared) const;
    void change_nodes(std::size_t member, PreparedGraph& prepared) const;
    void change_words(std::size_t member, PreparedGraph& prepared) const;
    std::string_view text(std::uint32_t number) const;

    SectionFile graphs_file_, deltas_file_;
    std::span<const char> texts_;
    std::span<const std::uint32_t> text_ends_, list_ends_;
    std::span<const KernelRecord> kernels_;
    std::span<const std::byte> lists_;
    std::span<const EdgeRecord> edges_;
    NodeColumns<ColumnView> columns_;
    std::span<const std::byte> params_;
    std::vector<std::uint64_t> param_offsets_;  ///< of each template's node, and the end
    std::vector<Group> groups_;

    std::span<const MemberRecord> members_;
    std::span<const std::byte> changes_, gaps_;
    std::span<const std::uint32_t> words_;
    std::vector<Delta> deltas_;
    std::vector<Entry> entries_;  ///< by position
};

}  // namespace assay::foundry
