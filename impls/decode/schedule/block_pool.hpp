// Blocks of the cache, counted by who holds them. Nothing is allocated after the constructor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace assay::decode {

class BlockPool {
  public:
    explicit BlockPool(int blocks)
        : holders_(static_cast<std::size_t>(blocks)), free_(static_cast<std::size_t>(blocks)) {
        std::iota(free_.rbegin(), free_.rend(), 0);  // block 0 is taken first
    }

    int size() const { return static_cast<int>(holders_.size()); }
    int free() const { return static_cast<int>(free_.size()); }
    int held() const { return size() - free(); }
    int holders(int block) const { return holders_[static_cast<std::size_t>(block)]; }

    /// A free one, of which there must be some; held once.
    int take() {
        const int block = free_.back();
        free_.pop_back();
        holders_[static_cast<std::size_t>(block)] = 1;
        return block;
    }
    void hold(int block) { ++holders_[static_cast<std::size_t>(block)]; }
    /// Returns how often it is held now; at 0 it is free.
    int let_go(int block) {
        const int left = --holders_[static_cast<std::size_t>(block)];
        if (left == 0) free_.push_back(block);
        return left;
    }

  private:
    std::vector<int> holders_;
    std::vector<int> free_;  // the last is taken next
};

}  // namespace assay::decode
