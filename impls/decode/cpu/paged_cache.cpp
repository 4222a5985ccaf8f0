#include "impls/decode/cpu/paged_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "impls/decode/back_end.hpp"
#include "impls/nn/files/stored_tensor.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

static_assert(block_positions == lanes);

PagedCache::PagedCache(const nn::DecoderConfig& config, int blocks, KvType type)
    : type_(type),
      layers_(config.layers),
      kv_heads_(config.kv_heads),
      head_width_(config.head_width),
      blocks_(blocks),
      head_bytes_(static_cast<std::size_t>(block_positions * (head_width_ + padded(head_width_))) *
                  bytes_of(type)),
      block_bytes_(static_cast<std::size_t>(layers_ * kv_heads_) * head_bytes_) {
    try {
        memory_ = kernels::allocate_streamed(static_cast<std::size_t>(blocks) * block_bytes_);
    } catch (const std::bad_alloc&) {
        throw UserError("no memory for a cache of " +
                        std::to_string(std::int64_t{blocks} * block_positions) +
                        " positions; ask for a shorter context, or fewer blocks");
    }
}

std::size_t PagedCache::bytes_per_position() const {
    return 2 * bytes_of(type_) * static_cast<std::size_t>(layers_ * kv_heads_ * head_width_);
}

void PagedCache::put(int layer, int block, int within, const float* key, const float* value) {
    const auto put_as = [&](auto stored) {
        using Stored = decltype(stored(0.0f));
        for (int head = 0; head < kv_heads_; ++head, key += head_width_, value += head_width_) {
            auto* const keys = reinterpret_cast<Stored*>(at(layer, head, block));
            Stored* const values = keys + block_positions * head_width_;
            for (int i = 0; i < head_width_; ++i) {
                keys[i * block_positions + within] = stored(key[i]);
                values[within * padded(head_width_) + i] = stored(value[i]);
            }
        }
    };
    if (type_ == KvType::f32)
        put_as([](float x) { return x; });
    else
        put_as([](float x) { return nn::to_bfloat16(x); });
}

void PagedCache::copy(int from, int to, int positions) {
    const std::size_t element = bytes_of(type_);
    const auto count = static_cast<std::size_t>(positions);
    const std::size_t line = block_positions * element;
    for (int layer = 0; layer < layers_; ++layer)
        for (int head = 0; head < kv_heads_; ++head) {
            const std::byte* source = at(layer, head, from);
            std::byte* target = at(layer, head, to);
            for (int i = 0; i < head_width_; ++i, source += line, target += line)
                std::memcpy(target, source, count * element);
            std::memcpy(target, source,
                        count * static_cast<std::size_t>(padded(head_width_)) * element);
        }
}

void PagedCache::link(const LinkedPositions& linked, std::span<const float> cosine,
                      std::span<const float> sine) {
    if (linked.shift == 0 && linked.from_position == 0 && linked.to_position == 0)
        return copy(linked.from, linked.to, linked.positions);
    const int half = head_width_ / 2;
    const auto link_as = [&](auto load, auto store) {
        using Stored = decltype(store(0.0f));
        const auto rotate = [&](const Stored* from, Stored* to) {
            for (int i = 0; i < half; ++i)
                for (int p = 0; p < linked.positions; ++p) {
                    const int low = i * block_positions, high = (i + half) * block_positions;
                    const auto pair = static_cast<std::size_t>(i);
                    const float a = load(from[low + linked.from_position + p]);
                    const float b = load(from[high + linked.from_position + p]);
                    to[low + linked.to_position + p] = store(a * cosine[pair] - b * sine[pair]);
                    to[high + linked.to_position + p] = store(b * cosine[pair] + a * sine[pair]);
                }
        };
        const auto row = static_cast<std::size_t>(padded(head_width_));
        for (int layer = 0; layer < layers_; ++layer)
            for (int head = 0; head < kv_heads_; ++head) {
                const auto* const from = reinterpret_cast<Stored*>(at(layer, head, linked.from));
                auto* const to = reinterpret_cast<Stored*>(at(layer, head, linked.to));
                rotate(from, to);
                const std::size_t values = static_cast<std::size_t>(block_positions * head_width_);
                std::copy_n(from + values + static_cast<std::size_t>(linked.from_position) * row,
                            static_cast<std::size_t>(linked.positions) * row,
                            to + values + static_cast<std::size_t>(linked.to_position) * row);
            }
    };
    if (type_ == KvType::f32)
        link_as([](float x) { return x; }, [](float x) { return x; });
    else
        link_as([](std::uint16_t x) { return nn::from_bfloat16(x); },
                [](float x) { return nn::to_bfloat16(x); });
}

}  // namespace assay::decode
