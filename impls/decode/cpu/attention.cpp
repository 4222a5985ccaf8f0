// The heads that share a key head are computed together: keys and values are read once.
#include "impls/decode/cpu/attention.hpp"

#include <algorithm>
#include <cmath>

namespace assay::decode {
namespace {

/// Less than this one core goes through in a few microseconds, about what a shared region costs.
constexpr std::size_t least_bytes_to_share = 128 * 1024;

int segments_of(int position) { return position / segment_positions + 1; }

}  // namespace

Attention::Attention(const nn::DecoderConfig& config)
    : config_(config), group_(config.heads / config.kv_heads) {}

void Attention::run(AssayContext& context, const Loops& loops, const PagedCache& cache, int layer,
                    std::span<const FedToken> tokens, const float* query) {
    items_.clear();
    segments_.clear();
    first_item_.clear();
    std::size_t positions = 0;
    for (int t = 0; t < static_cast<int>(tokens.size()); ++t) {
        const int position = tokens[static_cast<std::size_t>(t)].position;
        positions += static_cast<std::size_t>(position) + 1;
        segments_.push_back(segments_of(position));
        first_item_.push_back(static_cast<int>(items_.size()));
        for (int head = 0; head < config_.kv_heads; ++head)
            for (int segment = 0; segment < segments_.back(); ++segment)
                items_.push_back({t, head, segment});
    }
    const std::size_t slots = items_.size() * static_cast<std::size_t>(group_);
    if (most_.size() < slots) {
        most_.resize(slots);
        sums_.resize(slots);
        mixed_.resize(slots * static_cast<std::size_t>(padded(config_.head_width)));
    }
    const int count = static_cast<int>(items_.size());
    const auto work = [&](int item) { attend(loops, cache, layer, tokens, query, item); };
    const std::size_t bytes =
        positions * cache.bytes_per_position() / static_cast<std::size_t>(config_.layers);
    if (bytes < least_bytes_to_share)
        for (int item = 0; item < count; ++item) work(item);
    else
        context.pool.run(count, work);
}

void Attention::attend(const Loops& loops, const PagedCache& cache, int layer,
                       std::span<const FedToken> tokens, const float* query, int item) {
    const auto [index, kv_head, segment] = items_[static_cast<std::size_t>(item)];
    const FedToken& token = tokens[static_cast<std::size_t>(index)];
    const int positions =
        std::min(segment_positions, token.position + 1 - segment * segment_positions);
    const int blocks = (positions + lanes - 1) / lanes;
    const std::byte* places[segment_blocks];
    for (int b = 0; b < blocks; ++b)
        places[b] = cache.of_head(layer, kv_head, token.blocks[segment * segment_blocks + b]);
    const int slot = item * group_, width = config_.head_width;
    loops.attend({.type = cache.type(),
                  .head_width = width,
                  .positions = positions,
                  .heads = group_,
                  .query = query + (index * config_.heads + kv_head * group_) * width,
                  .blocks = places,
                  .most = most_.data() + slot,
                  .sums = sums_.data() + slot,
                  .mixed = mixed_.data() + slot * padded(width)});
}

void Attention::join(int token, float* out) const {
    const int width = config_.head_width;
    const int segments = segments_[static_cast<std::size_t>(token)];
    for (int head = 0; head < config_.heads; ++head, out += width) {
        const int item = first_item_[static_cast<std::size_t>(token)] + head / group_ * segments;
        const auto slot = [&](int segment) {
            return static_cast<std::size_t>((item + segment) * group_ + head % group_);
        };
        const auto mixed = [&](int segment) {
            return mixed_.data() + slot(segment) * static_cast<std::size_t>(padded(width));
        };
        if (segments == 1) {
            const float share = 1.0f / sums_[slot(0)];
            const float* const from = mixed(0);
            for (int i = 0; i < width; ++i) out[i] = share * from[i];
            continue;
        }
        float most = most_[slot(0)], sum = 0;
        for (int s = 1; s < segments; ++s) most = std::max(most, most_[slot(s)]);
        for (int s = 0; s < segments; ++s) sum += sums_[slot(s)] * std::exp(most_[slot(s)] - most);
        std::fill_n(out, width, 0.0f);
        for (int s = 0; s < segments; ++s) {
            const float share = std::exp(most_[slot(s)] - most) / sum;
            const float* const from = mixed(s);
            for (int i = 0; i < width; ++i) out[i] += share * from[i];
        }
    }
}

}  // namespace assay::decode
