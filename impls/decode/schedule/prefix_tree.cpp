#include "impls/decode/schedule/prefix_tree.hpp"

#include <algorithm>

namespace assay::decode {
namespace {

int common(std::span<const int> a, std::span<const int> b) {
    const auto [end, unused] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<int>(end - a.begin());
}

std::span<const int> block_of(std::span<const int> tokens, int block) {
    const auto first = std::min(tokens.size(), static_cast<std::size_t>(block) * block_positions);
    return tokens.subspan(first, std::min<std::size_t>(tokens.size() - first, block_positions));
}

}  // namespace

PrefixTree::PrefixTree(BlockPool& pool)
    : pool_(pool),
      nodes_(static_cast<std::size_t>(pool.size()) + 1),
      unused_(static_cast<std::size_t>(pool.size())),
      node_of_block_(static_cast<std::size_t>(pool.size()), none) {
    std::iota(unused_.rbegin(), unused_.rend(), 1);
}

std::pair<int, int> PrefixTree::nearest_child(int node, std::span<const int> tokens) const {
    int nearest = none, most = 0;
    for (int child = at(node).first_child; child != none; child = at(child).next_sibling) {
        const Node& each = at(child);
        const int shared =
            common({each.tokens.data(), static_cast<std::size_t>(each.count)}, tokens);
        if (shared > most) nearest = child, most = shared;
    }
    return {nearest, most};
}

PrefixTree::Match PrefixTree::match(std::span<const int> tokens, std::span<int> shared) const {
    Match match;
    for (int node = root;;) {
        const auto [child, count] = nearest_child(node, block_of(tokens, match.blocks));
        if (count < block_positions) {
            if (count > 0) match.partial = at(child).block;
            match.positions = count;
            return match;
        }
        shared[static_cast<std::size_t>(match.blocks++)] = at(child).block;
        node = child;
    }
}

PrefixTree::Place PrefixTree::place_of(std::span<const int> tokens, int blocks) const {
    Place place;
    for (; place.blocks < blocks; ++place.blocks)
        place.node = nearest_child(place.node, block_of(tokens, place.blocks)).first;
    return place;
}

void PrefixTree::extend(Place& place, std::span<const int> tokens, std::span<int> blocks) {
    for (;; ++place.blocks) {
        const std::span<const int> here = block_of(tokens, place.blocks);
        if (here.empty()) return;
        const int count = static_cast<int>(here.size());
        int& block = blocks[static_cast<std::size_t>(place.blocks)];
        int own = node_of(block);
        if (own != none) {
            Node& node = at(own);
            for (; node.count < count; ++node.count)
                node.tokens[static_cast<std::size_t>(node.count)] =
                    here[static_cast<std::size_t>(node.count)];
            if (count < block_positions) return;
        }
        // Whether another sequence was here before with the same tokens, or with fewer of them.
        int shorter = none, same = none;
        for (int child = at(place.node).first_child; child != none;
             child = at(child).next_sibling) {
            const Node& each = at(child);
            if (child == own) continue;
            const int shared =
                common({each.tokens.data(), static_cast<std::size_t>(each.count)}, here);
            if (shared == count)
                same = child;
            else if (shared == each.count)
                shorter = child;
        }
        if (same != none) {
            if (count < block_positions) return;
            if (own != none) remove(own);
            adopt(block, same);
            place.node = same;
            continue;
        }
        if (own == none) {
            if (shorter != none) remove(shorter);
            own = add(place.node, block, here);
        }
        if (count < block_positions) return;
        place.node = own;
    }
}

void PrefixTree::adopt(int& own, int node) {
    const int shared = at(node).block;
    hold(shared);
    let_go(own);
    own = shared;
}

void PrefixTree::forget(std::span<const int> blocks) {
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
        const int node = node_of(*block);
        if (node == none) continue;
        // Twice: by the tree and by the sequence.
        if (at(node).first_child != none || pool_.holders(*block) > 2) return;
        remove(node);
    }
}

void PrefixTree::hold(int block) {
    if (idle(block)) leave_idle(node_of(block));
    pool_.hold(block);
}

void PrefixTree::let_go(int block) {
    if (pool_.let_go(block) == 1 && node_of(block) != none) join_idle(node_of(block));
}

int PrefixTree::take() {
    if (pool_.free() == 0) remove(oldest_);
    return pool_.take();
}

int PrefixTree::add(int parent, int block, std::span<const int> tokens) {
    const int node = unused_.back();
    unused_.pop_back();
    Node& added = at(node);
    added.parent = parent;
    added.first_child = added.previous_sibling = added.older = added.newer = none;
    added.next_sibling = at(parent).first_child;
    if (added.next_sibling != none) at(added.next_sibling).previous_sibling = node;
    at(parent).first_child = node;
    added.block = block;
    added.count = static_cast<int>(tokens.size());
    std::copy(tokens.begin(), tokens.end(), added.tokens.begin());
    node_of_block_[static_cast<std::size_t>(block)] = node;
    pool_.hold(block);
    return node;
}

void PrefixTree::remove(int node) {
    Node& removed = at(node);
    if (idle(removed.block)) leave_idle(node);
    if (removed.previous_sibling != none)
        at(removed.previous_sibling).next_sibling = removed.next_sibling;
    else
        at(removed.parent).first_child = removed.next_sibling;
    if (removed.next_sibling != none)
        at(removed.next_sibling).previous_sibling = removed.previous_sibling;
    node_of_block_[static_cast<std::size_t>(removed.block)] = none;
    pool_.let_go(removed.block);
    unused_.push_back(node);
}

void PrefixTree::join_idle(int node) {
    at(node).older = newest_;
    at(node).newer = none;
    (newest_ == none ? oldest_ : at(newest_).newer) = node;
    newest_ = node;
    ++idle_;
}

void PrefixTree::leave_idle(int node) {
    const Node& left = at(node);
    (left.older == none ? oldest_ : at(left.older).newer) = left.newer;
    (left.newer == none ? newest_ : at(left.newer).older) = left.older;
    --idle_;
}

void PrefixTree::clear() {
    for (int block = 0; block < pool_.size(); ++block) {
        const int node = node_of(block);
        if (node == none) continue;
        node_of_block_[static_cast<std::size_t>(block)] = none;
        pool_.let_go(block);
        unused_.push_back(node);
    }
    at(root).first_child = none;
    oldest_ = newest_ = none;
    idle_ = 0;
}

}  // namespace assay::decode
