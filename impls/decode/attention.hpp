// The cache of keys and values, and attention over it.
#pragma once

#include <memory>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "kernels/assay_kernels.h"

namespace assay::decode {

/// fp32, head by head, in chunks of positions. Values lie position by position; keys lie the other
/// way, [head width][chunk_positions], so that scores of many positions are summed side by side.
constexpr int chunk_positions = 256;

class KvCache {
  public:
    /// Throws UserError when there is not enough memory for so many positions.
    KvCache(const nn::DecoderConfig& config, int positions);

    int positions() const { return positions_; }
    /// Bytes that one position takes, over all layers.
    std::size_t bytes_per_position() const;

    /// key, value: [kv heads · head width].
    void put(int layer, int position, const float* key, const float* value);

    /// Of one chunk: [head width][chunk_positions].
    const float* keys(int layer, int kv_head, int chunk) const;
    /// Of one chunk: [chunk_positions][head width].
    const float* values(int layer, int kv_head, int chunk) const;

  private:
    std::size_t at(int layer, int kv_head, int chunk) const;

    int layers_, kv_heads_, head_width_, positions_, chunks_;
    std::unique_ptr<float[]> keys_, values_;  // uninitialised: pages come when they are written
};

/// Causal attention of a few tokens over the cache.
class Attention {
  public:
    Attention(const nn::DecoderConfig& config, int positions);

    /// query: [tokens][heads · head width], already scaled and rotated. Keys and values of the
    /// tokens are in the cache at first_position and behind. out: like query. The result does not
    /// depend on the number of threads.
    void run(AssayContext& context, KvCache& cache, int layer, int first_position, int tokens,
             const float* query, float* out);

  private:
    struct Part {
        float most, sum;  ///< largest score; sum of exp(score − most)
    };
    struct Item {
        int token, kv_head, chunk;
    };
    void attend(AssayContext& context, KvCache& cache, int layer, int first_position,
                const Item& item, const float* query);
    void join(int first_position, int token, float* out);
    std::size_t slot(int token, int head, int chunk) const;

    nn::DecoderConfig config_;
    int chunks_;               ///< of a full cache
    std::vector<Part> parts_;  // [token][head][chunk]
    std::vector<float> mixed_;  // [token][head][chunk][head width]: sum of exp(score − most)·value
    std::vector<Item> items_;
};

}  // namespace assay::decode
