// Keys and values of all sequences, in blocks of sixteen positions.
#pragma once

#include <cstddef>
#include <span>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/loops.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "kernels/cpu/streamed_memory.hpp"
#include "suite/base/describe.hpp"

namespace assay::decode {

ASSAY_NAMES(KvType, f32, bf16)

/// A block is one piece of memory: of every layer and key head the keys, position beside position,
/// so that scores of sixteen are summed side by side, and behind them the values (KvLayout). What
/// was not put yet is not initialised.
class PagedCache {
  public:
    /// Throws UserError when there is not enough memory.
    PagedCache(const nn::DecoderConfig& config, int blocks, KvType type);

    KvType type() const { return type_; }
    const KvLayout& layout() const { return layout_; }  ///< of one head in a block
    int blocks() const { return blocks_; }
    std::size_t block_bytes() const { return block_bytes_; }
    /// Of keys and values that attention reads, over all layers.
    std::size_t bytes_per_position() const;

    /// key, value: [kv heads · head width]. within: position in its block.
    void put(const Loops& loops, int layer, int block, int within, const float* key,
             const float* value);
    /// Keys and values of one head.
    const std::byte* of_head(int layer, int kv_head, int block) const {
        return at(layer, kv_head, block);
    }

    /// The first `positions` of a block over those of another.
    void copy(int from, int to, int positions);
    /// Positions of a block to a block that is another, or the same at other positions apart from
    /// them. Pairs (i, i + head width / 2) of keys are rotated by angles whose cosines and sines
    /// are given, [head width / 2]: arithmetic in fp32, once for all heads alike.
    void link(const LinkedPositions& linked, std::span<const float> cosine,
              std::span<const float> sine);
    std::span<const std::byte> block(int index) const { return {at(0, 0, index), block_bytes_}; }
    std::span<std::byte> block(int index) { return {at(0, 0, index), block_bytes_}; }

  private:
    std::byte* at(int layer, int kv_head, int block) const {
        return memory_.get() + static_cast<std::size_t>(block) * block_bytes_ +
               static_cast<std::size_t>(layer * kv_heads_ + kv_head) * head_bytes_;
    }

    KvType type_;
    KvLayout layout_;
    int layers_, kv_heads_, head_width_, blocks_;
    std::size_t head_bytes_, block_bytes_;
    kernels::StreamedMemory memory_;
};

}  // namespace assay::decode
