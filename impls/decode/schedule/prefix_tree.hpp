// Which tokens the blocks of the cache hold keys and values of, so that a prompt that begins like
// an earlier one is not computed again. A node is a block and the tokens in it; its path from the
// root are all tokens before. Nothing is allocated after the constructor.
//
// A sequence that uses a node holds its block and those of all nodes above, so that nodes whose
// block only the tree holds have no children in use: they are given up leaf by leaf, the least
// recently used first.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/schedule/block_pool.hpp"

namespace assay::decode {

class PrefixTree {
  public:
    static constexpr int none = -1, root = 0;

    /// Keeps the reference.
    explicit PrefixTree(BlockPool& pool);

    /// How much of a sequence is cached.
    struct Match {
        int blocks = 0;      ///< full ones, which can be shared
        int partial = none;  ///< a block whose first `positions` match; to be copied
        int positions = 0;   ///< of `partial`
        int tokens() const { return blocks * block_positions + positions; }
    };
    /// shared: gets the full blocks; has room for them.
    Match match(std::span<const int> tokens, std::span<int> shared) const;

    /// Where a sequence has got to in the tree.
    struct Place {
        int node = root;  ///< of its last full block
        int blocks = 0;   ///< full ones up to there
    };
    /// The place behind the full blocks of a match.
    Place place_of(std::span<const int> tokens, int blocks) const;

    /// A sequence whose `tokens` are in `blocks` by now. A block that the tree has already takes
    /// the place of the sequence's own in `blocks`, as soon as it is full.
    void extend(Place& place, std::span<const int> tokens, std::span<int> blocks);
    /// The sequence holds `blocks` and was wrong: what nobody else uses of them is forgotten.
    void forget(std::span<const int> blocks);

    // Every hold on a block goes through these, which know what is in use.
    void hold(int block);
    void let_go(int block);
    /// A free block, or the least recently used one that only the tree holds. There must be one.
    int take();
    int available() const { return pool_.free() + idle_; }
    /// Whether only the tree holds it.
    bool idle(int block) const { return node_of(block) != none && pool_.holders(block) == 1; }

    void clear();

  private:
    struct Node {
        int parent = none, first_child = none, next_sibling = none, previous_sibling = none;
        int older = none, newer = none;  ///< of the list of idle nodes
        int block = none;
        int count = 0;
        std::array<int, block_positions> tokens;
    };

    int node_of(int block) const { return node_of_block_[static_cast<std::size_t>(block)]; }
    Node& at(int node) { return nodes_[static_cast<std::size_t>(node)]; }
    const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
    /// The child that shares most tokens, and how many.
    std::pair<int, int> nearest_child(int node, std::span<const int> tokens) const;
    int add(int parent, int block, std::span<const int> tokens);
    void remove(int node);  // a leaf; the tree's hold on its block ends
    void join_idle(int node);
    void leave_idle(int node);
    void adopt(int& own, int node);

    BlockPool& pool_;
    std::vector<Node> nodes_;
    std::vector<int> unused_;         // nodes
    std::vector<int> node_of_block_;  // none: not in the tree
    int oldest_ = none, newest_ = none, idle_ = 0;
};

}  // namespace assay::decode
