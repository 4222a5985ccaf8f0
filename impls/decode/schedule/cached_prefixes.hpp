// What an engine elsewhere has in its cache of prefixes, as far as one knows who sends it requests:
// its own tree over as many blocks, so that what is least recently used is given up alike.
#pragma once

#include <span>
#include <vector>

#include "impls/decode/schedule/block_pool.hpp"
#include "impls/decode/schedule/prefix_tree.hpp"

namespace assay::decode {

class CachedPrefixes {
  public:
    explicit CachedPrefixes(int blocks) : pool_(blocks), tree_(pool_) {}
    CachedPrefixes(const CachedPrefixes&) = delete;
    CachedPrefixes& operator=(const CachedPrefixes&) = delete;

    /// A sequence was computed; of one larger than the cache, what fits.
    void add(std::span<const int> tokens);
    /// Tokens at the beginning of `tokens` that some sequence began with.
    int match(std::span<const int> tokens) const;
    void clear() { tree_.clear(); }
    int held_blocks() const { return pool_.held(); }

  private:
    BlockPool pool_;
    PrefixTree tree_;
    mutable std::vector<int> blocks_;  // of one sequence
};

}  // namespace assay::decode
