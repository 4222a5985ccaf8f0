// An optional method's part in the keys and values of one request: tokens that it brings are not
// computed, and blocks that it keeps outlive the request. links/linked_cache.hpp is one.
#pragma once

#include <span>

namespace assay::decode {

class CacheHook {
  public:
    virtual ~CacheHook() = default;

    /// First token whose keys and values it brings or changes: those before it alone are looked for
    /// in the tree of prefixes. None: the largest int; only then may others find the sequence.
    virtual int first_brought() const = 0;
    /// Of the tokens from `fed` to `known`: how many come next where `most` may be computed, and
    /// how many of these are.
    struct Chunk {
        int tokens = 0, computed = 0;
    };
    virtual Chunk chunk(int fed, int known, int most) const = 0;
    /// It was given these blocks, which have room for all tokens that are known.
    virtual void on_admitted(std::span<const int> blocks) = 0;
    /// It has come to its end, keys and values of `tokens` in `blocks`. True: these are kept, until
    /// Scheduler::let_go().
    virtual bool keeps(std::span<const int> tokens, std::span<const int> blocks) = 0;
};

}  // namespace assay::decode
