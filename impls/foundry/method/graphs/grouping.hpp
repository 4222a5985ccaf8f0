// Which of many graphs become templates, and what it takes to make each of the others of its
// template (specification 3.8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "impls/foundry/method/graphs/graph.hpp"
#include "impls/foundry/method/graphs/topology_key.hpp"

namespace assay::foundry {

/// Which graph of a group is its template: the first, or that of the largest batch.
enum class TemplateChoice { first, largest };
ASSAY_NAMES(TemplateChoice, first, largest)

/// What turns one graph into another of the same topology.
struct Differences {
    std::int64_t nodes =
        0;  ///< whose image, name, grid, block, shared memory, params, fields differ
    /// 32-bit words: of params that differ, the shorter ones padded with zeros; all of the member's
    /// where image or name differ; two for each field that differs.
    std::int64_t words = 0;

    bool operator==(const Differences&) const = default;
};
/// Throws std::logic_error where their nodes are not of the same types.
Differences differences(const Graph& from, const Graph& to);

struct Member {
    std::size_t graph = 0;  ///< counted as given
    std::size_t of = 0;     ///< the graph that is its template
    Differences changed;
};

struct Grouping {
    std::vector<std::size_t> templates;  ///< one of each group, in the order in which they appear
    std::vector<Member> members;         ///< all other graphs, in their order
    std::int64_t mixed = 0;              ///< members whose strong key is not their template's
};
Grouping group(std::span<const Graph> graphs, Key key, TemplateChoice choice);

}  // namespace assay::foundry
