// Which nodes hold each expert, and so which losses kill: a set of failed nodes loses an expert
// where it contains all of the expert's holders. Only the inclusion-minimal holder sets matter, and
// they fall into components that share no node.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// A set of at most most_masked_nodes nodes. Bit n: node n.
using NodeMask = std::uint64_t;

inline constexpr int most_masked_nodes = 64;

/// A set of any nodes, one bit per node.
class NodeSet {
  public:
    explicit NodeSet(int nodes = 0) : words_(static_cast<std::size_t>(nodes + 63) / 64, 0) {}

    void insert(int node) { words_[word(node)] |= bit(node); }
    bool contains(int node) const { return (words_[word(node)] & bit(node)) != 0; }
    int size() const;
    bool subset_of(const NodeSet& other) const;
    void unite(const NodeSet& other);
    std::vector<int> members() const;                                      ///< ascending
    NodeMask mask() const { return words_.empty() ? 0 : words_.front(); }  ///< nodes below 64

    auto operator<=>(const NodeSet&) const = default;

  private:
    static std::size_t word(int node) { return static_cast<std::size_t>(node) / 64; }
    static std::uint64_t bit(int node) {
        return std::uint64_t{1} << (static_cast<unsigned>(node) % 64);
    }

    std::vector<std::uint64_t> words_;
};

// What counting needs of either kind of set.
inline int size_of(NodeMask set) { return std::popcount(set); }
inline int size_of(const NodeSet& set) { return set.size(); }
inline bool is_subset(NodeMask a, NodeMask b) { return (a & ~b) == 0; }
inline bool is_subset(const NodeSet& a, const NodeSet& b) { return a.subset_of(b); }
inline NodeMask united(NodeMask a, NodeMask b) { return a | b; }
inline NodeSet united(NodeSet a, const NodeSet& b) {
    a.unite(b);
    return a;
}

/// Nodes that hold each expert. Precondition: at most most_masked_nodes nodes.
std::vector<NodeMask> holder_masks(const Placement& placement, int experts);

/// The inclusion-minimal ones, smallest first, each once.
std::vector<NodeMask> minimal_masks(std::vector<NodeMask> masks);

/// The inclusion-minimal sets among the holders of every expert of every layer, smallest first.
/// Losing all nodes of one of them loses an expert; a placement survives a failure that contains
/// none of them. An expert without a holder gives one empty set. Throws UserError when layers
/// differ in nodes or an expert id is not in 0 … experts-1.
std::vector<NodeSet> minimal_holder_sets(const ModelPlacement& placement, int experts);

/// Sets that share nodes, directly or through others, over their own nodes only.
struct FailureComponent {
    int nodes = 0;              ///< nodes that occur in the sets; renumbered 0 … nodes-1
    std::vector<NodeSet> sets;  ///< over the renumbered nodes
};

/// Splits the sets (none empty) over `nodes` nodes; nodes in no set are in no component.
std::vector<FailureComponent> split_components(const std::vector<NodeSet>& sets, int nodes);

}  // namespace assay::lazarus
