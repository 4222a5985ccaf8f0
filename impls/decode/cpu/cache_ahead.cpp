#include "impls/decode/cpu/cache_ahead.hpp"

#include <algorithm>

namespace assay::decode {
namespace {

constexpr int line = 64;
/// Of less, asking ahead was not seen to help.
constexpr int least_lines = 1024 * 1024 / line;
/// More would be gone again from the caches before it is read.
constexpr int most_lines = 8 * 1024 * 1024 / line;

}  // namespace

CacheAhead::CacheAhead(int blocks) {
    // So that steps allocate nothing.
    blocks_.reserve(static_cast<std::size_t>(blocks));
    pieces_.reserve(static_cast<std::size_t>(blocks));
}

void CacheAhead::note(std::span<const FedToken> tokens) {
    blocks_.clear();
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        const FedToken& token = tokens[t];
        const bool last = t + 1 == tokens.size() || tokens[t + 1].blocks != token.blocks;
        if (!last) continue;
        const std::size_t room = blocks_.capacity() - blocks_.size();  // sequences may share some
        const auto blocks = static_cast<std::size_t>(blocks_for(token.position + 1));
        blocks_.insert(blocks_.end(), token.blocks, token.blocks + std::min(blocks, room));
    }
}

void CacheAhead::begin(const PagedCache& cache, int layer, int calls) {
    lines_of_piece_ = static_cast<int>(cache.layer_bytes()) / line;
    const std::size_t pieces = std::min(
        blocks_.size(), static_cast<std::size_t>(std::max(1, most_lines / lines_of_piece_)));
    lines_ = lines_of_piece_ * static_cast<int>(pieces);
    if (lines_ < least_lines || calls <= 0) return end();
    lines_of_call_ = (lines_ + calls - 1) / calls;
    taken_.store(0, std::memory_order_relaxed);
    pieces_.clear();
    for (const int block : std::span(blocks_).first(pieces))
        pieces_.push_back(cache.of_head(layer, 0, block));
}

Ahead CacheAhead::take() {
    if (lines_ == 0) return {};
    const int first = taken_.fetch_add(lines_of_call_, std::memory_order_relaxed);
    if (first >= lines_) return {};
    return {.pieces = pieces_.data() + first / lines_of_piece_,
            .lines = lines_of_piece_,
            .at = first % lines_of_piece_,
            .count = std::min(lines_of_call_, lines_ - first)};
}

}  // namespace assay::decode
