// Positions are taken in chunks, each with a maximum and a sum of its own, so that a long context
// is shared by all threads however few the heads are. The heads that share a key head are computed
// together: keys and values are read once.
#include "impls/decode/attention.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>

#include "impls/decode/products.hpp"
#include "kernels/cpu/context.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

constexpr int heads_together = 8;
constexpr int widest_head = 256;
/// Less than this one core goes through in a few microseconds, about what a shared region costs.
constexpr std::size_t least_bytes_to_share = 128 * 1024;

/// scores: [heads] rows of [positions]. out: [positions][heads], exp(score − most of its head).
/// most, sums (of out): [heads].
void exponentials(const float* const* scores, int positions, int heads, float* out, float* most,
                  float* sums) {
    for (int h = 0; h < heads; ++h) {
        const float* const row = scores[h];
        most[h] = *std::max_element(row, row + positions);
        sums[h] = 0;
        for (int p = 0; p < positions; ++p) {
            const float share = std::exp(row[p] - most[h]);
            out[p * heads + h] = share;
            sums[h] += share;
        }
    }
}

int chunks_of(int positions) { return (positions + chunk_positions - 1) / chunk_positions; }

}  // namespace

KvCache::KvCache(const nn::DecoderConfig& config, int positions)
    : layers_(config.layers),
      kv_heads_(config.kv_heads),
      head_width_(config.head_width),
      positions_(positions),
      chunks_(chunks_of(positions)) {
    const std::size_t floats = at(layers_, 0, 0);
    try {
        keys_ = std::make_unique_for_overwrite<float[]>(floats);
        values_ = std::make_unique_for_overwrite<float[]>(floats);
    } catch (const std::bad_alloc&) {
        throw UserError("no memory for a cache of " + std::to_string(positions) +
                        " positions; ask for a shorter context");
    }
}

std::size_t KvCache::bytes_per_position() const {
    return 2 * sizeof(float) * static_cast<std::size_t>(layers_) *
           static_cast<std::size_t>(kv_heads_ * head_width_);
}

std::size_t KvCache::at(int layer, int kv_head, int chunk) const {
    return ((static_cast<std::size_t>(layer) * static_cast<std::size_t>(kv_heads_) +
             static_cast<std::size_t>(kv_head)) *
                static_cast<std::size_t>(chunks_) +
            static_cast<std::size_t>(chunk)) *
           static_cast<std::size_t>(chunk_positions * head_width_);
}

void KvCache::put(int layer, int position, const float* key, const float* value) {
    const int chunk = position / chunk_positions, within = position % chunk_positions;
    for (int head = 0; head < kv_heads_; ++head, key += head_width_, value += head_width_) {
        float* const keys = keys_.get() + at(layer, head, chunk) + within;
        for (int i = 0; i < head_width_; ++i) keys[i * chunk_positions] = key[i];
        std::copy_n(value, head_width_,
                    values_.get() + at(layer, head, chunk) + within * head_width_);
    }
}

const float* KvCache::keys(int layer, int kv_head, int chunk) const {
    return keys_.get() + at(layer, kv_head, chunk);
}

const float* KvCache::values(int layer, int kv_head, int chunk) const {
    return values_.get() + at(layer, kv_head, chunk);
}

Attention::Attention(const nn::DecoderConfig& config, int positions)
    : config_(config),
      chunks_(chunks_of(positions)),
      parts_(slot(largest_batch, 0, 0)),
      mixed_(parts_.size() * static_cast<std::size_t>(config.head_width)) {
    if (config.head_width > widest_head)
        throw UserError("heads of width " + std::to_string(config.head_width) +
                        " are wider than the engine computes (" + std::to_string(widest_head) +
                        ")");
}

std::size_t Attention::slot(int token, int head, int chunk) const {
    return (static_cast<std::size_t>(token) * static_cast<std::size_t>(config_.heads) +
            static_cast<std::size_t>(head)) *
               static_cast<std::size_t>(chunks_) +
           static_cast<std::size_t>(chunk);
}

void Attention::run(AssayContext& context, KvCache& cache, int layer, int first_position,
                    int tokens, const float* query, float* out) {
    items_.clear();
    for (int t = 0; t < tokens; ++t)
        for (int head = 0; head < config_.kv_heads; ++head)
            for (int chunk = 0; chunk < chunks_of(first_position + t + 1); ++chunk)
                items_.push_back({t, head, chunk});
    const std::size_t bytes = 2 * sizeof(float) * static_cast<std::size_t>(tokens) *
                              static_cast<std::size_t>(first_position + tokens) *
                              static_cast<std::size_t>(config_.kv_heads * config_.head_width);
    const int count = static_cast<int>(items_.size());
    const auto work = [&](int item) {
        attend(context, cache, layer, first_position, items_[static_cast<std::size_t>(item)],
               query);
    };
    if (bytes < least_bytes_to_share)
        for (int item = 0; item < count; ++item) work(item);
    else
        context.pool.run(count, work);
    for (int t = 0; t < tokens; ++t)
        join(first_position, t, out + t * config_.heads * config_.head_width);
}

void Attention::attend(AssayContext& context, KvCache& cache, int layer, int first_position,
                       const Item& item, const float* query) {
    const int width = config_.head_width, group = config_.heads / config_.kv_heads;
    const int begin = item.chunk * chunk_positions;
    const int end = std::min(begin + chunk_positions, first_position + item.token + 1);
    const int positions = end - begin;
    const auto* const keys =
        reinterpret_cast<const std::byte*>(cache.keys(layer, item.kv_head, item.chunk));
    const auto* const values =
        reinterpret_cast<const std::byte*>(cache.values(layer, item.kv_head, item.chunk));
    const auto add_rows = context.instructions.add_rows->of_type[ASSAY_F32];
    // Whole vectors are faster; what lies in the cache behind the last position is not used.
    const int columns = (positions + 15) / 16 * 16;

    float queries[widest_head * heads_together];         // [head width][head]
    float score_rows[chunk_positions * heads_together];  // [head][position]
    float shares[chunk_positions * heads_together];      // [position][head]
    for (int done = 0; done < group; done += heads_together) {
        const int first = item.kv_head * group + done,
                  heads = std::min(heads_together, group - done);
        float* mixed[heads_together];
        float* scores[heads_together];
        float most[heads_together], sums[heads_together];
        for (int h = 0; h < heads; ++h) {
            scores[h] = score_rows + h * chunk_positions;
            std::fill_n(scores[h], columns, 0.0f);
            const float* const own = query + (item.token * config_.heads + first + h) * width;
            for (int i = 0; i < width; ++i) queries[i * heads + h] = own[i];
            mixed[h] = mixed_.data() +
                       slot(item.token, first + h, item.chunk) * static_cast<std::size_t>(width);
            std::fill_n(mixed[h], width, 0.0f);
        }
        add_rows(keys, chunk_positions * sizeof(float), width, columns, queries, heads, scores,
                 values);
        exponentials(scores, positions, heads, shares, most, sums);
        add_rows(values, static_cast<std::size_t>(width) * sizeof(float), positions, width, shares,
                 heads, mixed, values);
        for (int h = 0; h < heads; ++h)
            parts_[slot(item.token, first + h, item.chunk)] = {most[h], sums[h]};
    }
}

void Attention::join(int first_position, int token, float* out) {
    const int width = config_.head_width, chunks = chunks_of(first_position + token + 1);
    for (int head = 0; head < config_.heads; ++head, out += width) {
        const std::size_t first = slot(token, head, 0);
        const Part* const parts = parts_.data() + first;
        const float* mixed = mixed_.data() + first * static_cast<std::size_t>(width);
        float most = parts[0].most, sum = 0;
        for (int c = 1; c < chunks; ++c) most = std::max(most, parts[c].most);
        for (int c = 0; c < chunks; ++c) sum += parts[c].sum * std::exp(parts[c].most - most);
        std::fill_n(out, width, 0.0f);
        for (int c = 0; c < chunks; ++c, mixed += width) {
            const float share = std::exp(parts[c].most - most) / sum;
            for (int i = 0; i < width; ++i) out[i] += share * mixed[i];
        }
    }
}

}  // namespace assay::decode
