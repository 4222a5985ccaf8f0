// Causal attention of tokens of many sequences over the paged cache.
#pragma once

#include <span>
#include <vector>

#include "impls/decode/cpu/loops.hpp"
#include "impls/decode/cpu/paged_cache.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "kernels/cpu/context.hpp"

namespace assay::decode {

/// One token of a pass: its id, and where its sequence's keys and values lie.
struct FedToken {
    int id = 0;
    int position = 0;
    const int* blocks = nullptr;  ///< of its sequence, up to that of `position`
    int shift = 0;                ///< it is rotated as if it stood so many positions further on
};

/// A sequence's positions are taken in segments of 256, counted from its first: each has a maximum
/// and sums of its own, which are joined in order. So a long context is shared by all threads, and
/// the bits depend neither on these nor on what else is computed.
class Attention {
  public:
    explicit Attention(const nn::DecoderConfig& config);

    /// query: [tokens][heads · head width], already scaled and rotated. Keys and values of all
    /// tokens are in the cache.
    void run(AssayContext& context, const Loops& loops, const PagedCache& cache, int layer,
             std::span<const FedToken> tokens, const float* query);
    /// Of the last run. out: [heads · head width]. May be called for several tokens at a time.
    void join(int token, float* out) const;

  private:
    struct Item {
        int token, kv_head, segment;
    };
    void attend(const Loops& loops, const PagedCache& cache, int layer,
                std::span<const FedToken> tokens, const float* query, int item);

    nn::DecoderConfig config_;
    int group_;                               ///< query heads of one key head
    std::vector<Item> items_;                 // token by token, head by head, segment by segment
    std::vector<int> segments_, first_item_;  // of each token
    std::vector<float> most_, sums_;          // [item][group]
    std::vector<float> mixed_;                // [item][group][padded head width]
};

}  // namespace assay::decode
