// Byte-pair merges in token ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace assay::nn {

class Merges {
  public:
    /// `rank`: lower ones are merged first. Returns false if the pair is there already.
    bool add(int left, int right, int rank, int merged);

    /// Merges a word's tokens until no pair is left that can be: lowest rank first, leftmost first
    /// among equals. O(n log n) for n tokens.
    void apply(std::vector<int>& word) const;

  private:
    struct Merge {
        int rank;
        int merged;
    };
    struct PairHash {
        std::size_t operator()(std::uint64_t pair) const {
            pair *= 0x9e3779b97f4a7c15ULL;  // spreads ids, which are small, over all bits
            return pair ^ pair >> 32;
        }
    };

    const Merge* find(int left, int right) const;

    std::unordered_map<std::uint64_t, Merge, PairHash> merges_;
};

}  // namespace assay::nn
