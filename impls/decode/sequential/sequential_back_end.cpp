#include "impls/decode/sequential/sequential_back_end.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "impls/decode/sampler.hpp"

namespace assay::decode {
namespace {

int picked(const Pick& pick, std::span<const float> logits) {
    if (pick.forced >= 0) return pick.forced;
    std::vector<float> allowed(logits.begin(), logits.end());
    if (!pick.allowed.empty())
        for (std::size_t id = 0; id < allowed.size(); ++id)
            if ((pick.allowed[id / 64] >> (id % 64) & 1) == 0)
                allowed[id] = -std::numeric_limits<float>::infinity();
    Sampler sampler(pick.sampling);
    // Draws of one token are forgotten at once; the number of the next one is what they leave.
    for (std::uint64_t draw = 0; draw < pick.draw; ++draw) sampler.choose(std::array{0.0f});
    return sampler.choose(allowed);
}

}  // namespace

SequentialBackEnd::SequentialBackEnd(const nn::TensorFile& file, const EngineOptions& options,
                                     int blocks)
    : engine_(file, options), ids_(static_cast<std::size_t>(blocks) * block_positions) {}

int& SequentialBackEnd::id_at(std::span<const int> blocks, int position) {
    const int block = blocks[static_cast<std::size_t>(position / block_positions)];
    return ids_[static_cast<std::size_t>(block) * block_positions +
                static_cast<std::size_t>(position % block_positions)];
}

void SequentialBackEnd::run(std::span<const Slice> slices, std::span<Outcome> out) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < slices.size(); ++i) run_one(slices[i], out[i]);
    step_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Takes the engine to the position of the slice, with what its blocks say before it.
void SequentialBackEnd::go_to(const Slice& slice) {
    std::vector<int> before;
    for (int position = 0; position < slice.first_position; ++position)
        before.push_back(id_at(slice.blocks, position));
    const auto [end, unused] =
        std::mismatch(fed_.begin(), fed_.end(), before.begin(), before.end());
    const auto shared = end - fed_.begin();
    engine_.rewind(static_cast<int>(shared));
    if (static_cast<std::size_t>(shared) < before.size())
        engine_.feed(std::span(before).subspan(static_cast<std::size_t>(shared)));
    fed_ = std::move(before);
}

void SequentialBackEnd::run_one(const Slice& slice, Outcome& out) {
    go_to(slice);
    out.finite = true;
    out.scores.clear();
    const auto vocabulary = static_cast<std::size_t>(this->vocabulary());
    for (std::size_t at = 0; at < slice.ids.size();) {
        const auto chunk = slice.ids.subspan(
            at, std::min<std::size_t>(slice.ids.size() - at, Engine::largest_chunk));
        const auto logits = engine_.feed_chunk(chunk);
        for (std::size_t t = 0; t < chunk.size(); ++t, ++at) {
            const auto row = logits.subspan(t * vocabulary, vocabulary);
            id_at(slice.blocks, slice.first_position + static_cast<int>(at)) = chunk[t];
            fed_.push_back(chunk[t]);
            out.finite = out.finite && std::none_of(row.begin(), row.end(),
                                                    [](float logit) { return std::isnan(logit); });
            if (!slice.scored.empty())
                out.scores.push_back(slice.scored[at] < 0 ? 0
                                                          : log_probability(row, slice.scored[at]));
            if (at + 1 < slice.ids.size() || !slice.picks || !out.finite) continue;
            out.id = picked(slice.pick, row);
            out.log_probability = log_probability(row, out.id);
        }
    }
}

void SequentialBackEnd::copy_block(int from, int to, int positions) {
    std::copy_n(ids_.begin() + static_cast<std::ptrdiff_t>(from) * block_positions, positions,
                ids_.begin() + static_cast<std::ptrdiff_t>(to) * block_positions);
}

void SequentialBackEnd::read_block(int block, std::span<std::byte> out) const {
    std::memcpy(out.data(), &ids_[static_cast<std::size_t>(block) * block_positions], out.size());
}

void SequentialBackEnd::write_block(int block, std::span<const std::byte> in) {
    std::memcpy(&ids_[static_cast<std::size_t>(block) * block_positions], in.data(), in.size());
}

}  // namespace assay::decode
