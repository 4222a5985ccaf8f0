// Graphs of a decoder's steps at many batch sizes, made by rules, so that how many topologies they
// have is known beforehand: what libraries' choices of kernels do to captured graphs, without a
// capture.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "impls/foundry/method/graphs/graph.hpp"
#include "impls/foundry/method/graphs/topology_key.hpp"
#include "suite/base/describe.hpp"

namespace assay::foundry {

/// What a library does otherwise from some batch size on.
enum class Change {
    tile,          ///< another function of the matrix products: the topology stays
    reduce,        ///< attention is split, one more kernel in each layer
    cluster,       ///< the products' thread block clusters
    edges,         ///< an edge between two layers' branches goes elsewhere
    programmatic,  ///< edges let a kernel begin before the one before ends
    cooperative,   ///< attention is launched cooperatively
    priority,      ///< the products' priority
    rows,          ///< the memset of counters clears several rows
};
ASSAY_NAMES(Change, tile, reduce, cluster, edges, programmatic, cooperative, priority, rows)

/// Whether a key sees it: whether graphs before and behind it are of different topologies.
bool seen_by(Key key, Change change);

struct Rule {
    Change change{};
    std::int64_t from = 1;  ///< batch size; each rule of a kind turns its change on or off again
};

struct DecodeFamily {
    int layers = 4;
    std::vector<Rule> rules = {};

    /// About 9 nodes a layer. Parameters hold addresses as a region gives them out: weights equal
    /// in all graphs, activations that depend on the batch size.
    Graph graph(std::int64_t batch) const;
    /// Of the batch sizes 1 to `largest`.
    std::vector<Graph> graphs(std::int64_t largest) const;
    /// How many groups those are, by the rules alone: counted, not by their graphs.
    std::int64_t groups(std::int64_t largest, Key key) const;
};

}  // namespace assay::foundry
