// Keys and values that the next attention will read, asked for while products are computed: these
// keep the processor busy, attention its memory.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "impls/decode/cpu/attention.hpp"
#include "impls/decode/cpu/loops.hpp"
#include "impls/decode/cpu/paged_cache.hpp"

namespace assay::decode {

class CacheAhead {
  public:
    /// blocks: of the cache; so many are asked for at most.
    explicit CacheAhead(int blocks);

    /// The blocks of a pass's sequences.
    void note(std::span<const FedToken> tokens);
    /// From here on: those of a layer, in `calls` calls of take(). Not beside take().
    void begin(const PagedCache& cache, int layer, int calls);
    void end() { lines_ = 0; }
    /// The next piece of work, on any thread.
    Ahead take();

  private:
    std::vector<int> blocks_;
    std::vector<const std::byte*> pieces_;  // of the layer
    int lines_of_piece_ = 1, lines_of_call_ = 0, lines_ = 0;
    std::atomic<int> taken_{0};  // lines
};

}  // namespace assay::decode
