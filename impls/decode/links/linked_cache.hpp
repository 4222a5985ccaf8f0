// Links within one engine: blocks of kept sequences, and their copies into those of requests that
// are linked to them.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/links/kept_sequences.hpp"
#include "impls/decode/schedule/cache_hook.hpp"

namespace assay::decode {

class LinkedCache;

/// What is linked to a request, or kept of it, while it is in the engine.
class LinkedRequest final : public CacheHook {
  public:
    /// `request` outlives it, and was checked.
    LinkedRequest(LinkedCache& all, RequestId id, const BatchRequest& request);
    ~LinkedRequest() override;
    LinkedRequest(const LinkedRequest&) = delete;
    LinkedRequest& operator=(const LinkedRequest&) = delete;

    int first_brought() const override;
    Chunk chunk(int fed, int known, int most) const override;
    void on_admitted(std::span<const int> blocks) override;
    bool keeps(std::span<const int> tokens, std::span<const int> blocks) override;

    /// Of `count` tokens from `first` on: those that links do not bring, rotated as asked. What the
    /// slice points to is good until the next call.
    void make_slice(std::span<const int> tokens, int first, int count, Slice& slice);

  private:
    const Links& links() const { return *request_.links; }

    LinkedCache& all_;
    RequestId id_;
    const BatchRequest& request_;
    std::vector<int> shifts_;                       // of each link
    std::vector<int> ids_, positions_, rotations_;  // of a slice
};

class LinkedCache {
  public:
    void check(const BatchRequest& request, const EngineLimits& limits) const {
        sequences_.check(request, limits);
    }
    /// Null: it has no links that bind.
    std::unique_ptr<LinkedRequest> begin(RequestId id, const BatchRequest& request);
    /// Copies what requests were linked to since the last call.
    void carry_out(BackEnd& back_end);

    bool is_linked_to(RequestId kept) const { return sequences_.is_linked_to(kept); }
    /// The blocks that it gives up; nothing is linked to it.
    std::vector<int> release(RequestId kept);
    bool keeps(RequestId request) const { return blocks_.contains(request); }
    bool bind() const { return sequences_.bind(); }

  private:
    friend class LinkedRequest;
    KeptSequences sequences_;
    std::map<RequestId, std::vector<int>> blocks_;  // of what is kept
    std::vector<LinkedPositions> copies_;
};

}  // namespace assay::decode
