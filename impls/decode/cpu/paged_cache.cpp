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
namespace {

/// So much is touched before the first pass, which would wait for the kernel's zeros else; by one
/// thread, on whose node it lies then.
constexpr std::size_t touched_ahead = 256 * 1024 * 1024;

}  // namespace

PagedCache::PagedCache(const nn::DecoderConfig& config, int blocks, KvType type)
    : type_(type),
      layout_(type, config.head_width),
      layers_(config.layers),
      kv_heads_(config.kv_heads),
      head_width_(config.head_width),
      blocks_(blocks),
      head_bytes_(static_cast<std::size_t>(layout_.elements()) * bytes_of(type)),
      block_bytes_(static_cast<std::size_t>(layers_ * kv_heads_) * head_bytes_) {
    try {
        const std::size_t bytes = static_cast<std::size_t>(blocks) * block_bytes_;
        memory_ = kernels::allocate_streamed(bytes);
        std::memset(memory_.get(), 0, std::min(bytes, touched_ahead));
    } catch (const std::bad_alloc&) {
        throw UserError("no memory for a cache of " +
                        std::to_string(std::int64_t{blocks} * block_positions) +
                        " positions; ask for a shorter context, or fewer blocks");
    }
}

std::size_t PagedCache::bytes_per_position() const {
    return 2 * bytes_of(type_) * static_cast<std::size_t>(layers_ * kv_heads_ * head_width_);
}

void PagedCache::put(const Loops& loops, int layer, int block, int within, const float* key,
                     const float* value) {
    for (int head = 0; head < kv_heads_; ++head, key += head_width_, value += head_width_)
        loops.put(type_, head_width_, within, key, value, at(layer, head, block));
}

void PagedCache::copy(int from, int to, int positions) {
    link({.from = from, .to = to, .positions = positions}, {}, {});
}

void PagedCache::link(const LinkedPositions& linked, std::span<const float> cosine,
                      std::span<const float> sine) {
    const int half = head_width_ / 2;
    const auto link_as = [&](auto load, auto store) {
        using Stored = decltype(store(0.0f));
        const auto rotate = [&](const Stored* from, int source, Stored* to, int target) {
            for (int i = 0; i < half; ++i) {
                const auto pair = static_cast<std::size_t>(i);
                const float a = load(from[layout_.key(i, source)]);
                const float b = load(from[layout_.key(i + half, source)]);
                to[layout_.key(i, target)] = store(a * cosine[pair] - b * sine[pair]);
                to[layout_.key(i + half, target)] = store(b * cosine[pair] + a * sine[pair]);
            }
        };
        for (int piece = 0; piece < layers_ * kv_heads_; ++piece) {
            const auto* const from = reinterpret_cast<const Stored*>(at(0, piece, linked.from));
            auto* const to = reinterpret_cast<Stored*>(at(0, piece, linked.to));
            for (int p = 0; p < linked.positions; ++p) {
                const int source = linked.from_position + p, target = linked.to_position + p;
                if (linked.shift != 0)
                    rotate(from, source, to, target);
                else
                    for (int i = 0; i < head_width_; ++i)
                        to[layout_.key(i, target)] = from[layout_.key(i, source)];
                for (int i = 0; i < head_width_; ++i)
                    to[layout_.value(target, i)] = from[layout_.value(source, i)];
            }
        }
    };
    if (type_ == KvType::f32)
        link_as([](float x) { return x; }, [](float x) { return x; });
    else
        link_as([](std::uint16_t x) { return nn::from_bfloat16(x); },
                [](float x) { return nn::to_bfloat16(x); });
}

}  // namespace assay::decode
