// Graphs on their way into an archive, one after another. What is kept of each is what the files
// will hold: all of the first graph of a topology, only the differences of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "impls/foundry/method/archive/byte_stream.hpp"
#include "impls/foundry/method/archive/graph_format.hpp"
#include "impls/foundry/method/archive/section_file.hpp"
#include "impls/foundry/method/graphs/graph.hpp"

namespace assay::foundry {

/// Byte strings that stand once each, by number.
class DistinctBytes {
  public:
    std::uint32_t number(std::string_view bytes);
    const std::vector<char>& bytes() const { return bytes_; }
    const std::vector<std::uint32_t>& ends() const { return ends_; }

  private:
    std::unordered_map<std::string, std::uint32_t> known_;
    std::vector<char> bytes_;
    std::vector<std::uint32_t> ends_;
};

class GraphEncoder {
  public:
    /// Graphs whose strong key is equal.
    struct Group {
        std::string key;  ///< SHA-256 of the strong key
        std::int64_t template_batch = 0;
        std::vector<std::int64_t> members;  ///< batches, as given
    };

    /// The edges must be in rising order, each batch one of its own. Throws UserError when a file
    /// would hold more than its numbers of 32 bits can say.
    void add(const Graph& graph);

    const std::vector<Group>& groups() const { return groups_; }
    const std::vector<std::int64_t>& batches() const { return batches_; }  ///< as given

    void write_graphs(const ByteSink& sink) const;
    void write_deltas(const ByteSink& sink) const;

  private:
    std::uint32_t kernel_number(const Launch& launch);
    std::uint32_t list_number(const Node& node);
    void add_node(const Node& node);
    void add_template(const Graph& graph, std::string key);
    void add_member(const Graph& graph, std::uint32_t group);
    /// Which NodeChange bits; the values go to changes_.
    std::uint32_t change_of(const Node& node, std::size_t template_node, std::size_t gap);
    void compare_params(std::span<const std::byte> params, std::span<const std::byte> to,
                        std::uint64_t& same);

    /// Where a template begins in the columns, the edges and the parameters.
    struct Begin {
        std::size_t node = 0, edge = 0, param = 0;
    };

    DistinctBytes texts_, lists_;
    std::map<KernelRecord, std::uint32_t> known_kernels_;
    std::vector<KernelRecord> kernels_;
    std::vector<TemplateRecord> templates_;
    std::vector<Begin> begins_;  ///< of each template
    std::vector<EdgeRecord> edges_;
    NodeColumns<Column> columns_;
    std::vector<std::byte> params_;

    std::vector<MemberRecord> members_;
    ByteWriter changes_, gaps_;
    std::vector<std::uint32_t> words_;

    std::unordered_map<std::string, std::uint32_t> group_of_;  ///< by SHA-256 of the strong key
    std::vector<Group> groups_;
    std::vector<std::int64_t> batches_;
};

}  // namespace assay::foundry
