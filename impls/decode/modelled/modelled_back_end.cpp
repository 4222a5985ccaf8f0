#include "impls/decode/modelled/modelled_back_end.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "impls/nn/hashes.hpp"

namespace assay::decode {
namespace {

constexpr std::uint64_t nothing_yet = 0x6a09e667f3bcc908ULL;
constexpr std::uint32_t most_weights = (1U << 30) - 1;

/// Two rounds less than counter_hash: this is most of the work of a modelled token.
std::uint64_t mixed(std::uint64_t hash, int id, std::uint64_t weights) {
    hash = (hash ^ (static_cast<std::uint64_t>(id) + (weights << 32))) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ (hash >> 29);
}

float score(std::uint64_t hash, int id) {
    return static_cast<float>(-static_cast<double>(mixed(hash, id, 7) >> 11) * 0x1p-53 * 16);
}

/// Half of what the raw ones give, so that neither is taken for the other; 0 without a choice.
float sampled_score(const Pick& pick, float raw) {
    const Sampling& sampling = pick.sampling;
    const bool chosen = pick.forced < 0 && sampling.temperature > 0 && sampling.top_k != 1;
    return chosen ? raw / 2 : 0;
}

/// The n-th of those allowed, counted round.
int nth_allowed(std::span<const std::uint64_t> allowed, int n, int vocabulary) {
    const auto is_allowed = [&](int id) {
        return (allowed[static_cast<std::size_t>(id) / 64] >> (id % 64) & 1) != 0;
    };
    int count = 0;  // bits behind the vocabulary are none
    for (int id = 0; id < vocabulary; ++id) count += is_allowed(id);
    n %= count;
    for (int id = 0;; ++id)
        if (is_allowed(id) && n-- == 0) return id;
}

int pick_id(std::uint64_t hash, const Pick& pick, std::uint64_t draw, int vocabulary) {
    if (pick.forced >= 0) return pick.forced;
    if (pick.sampling.temperature > 0)
        hash ^= nn::counter_hash(nn::counter_hash(pick.sampling.seed) + draw);
    const auto id = static_cast<int>((hash >> 32) * static_cast<std::uint64_t>(vocabulary) >> 32);
    return pick.allowed.empty() ? id : nth_allowed(pick.allowed, id, vocabulary);
}

}  // namespace

double StepCost::seconds(std::int64_t tokens, std::int64_t positions) const {
    return fixed_s + std::max(weights_s, static_cast<double>(tokens) * token_s) +
           static_cast<double>(positions) * position_s;
}

double StepCost::seconds(std::span<const Slice> slices) const {
    std::int64_t tokens = 0, positions = 0;
    for (const Slice& slice : slices) {
        const auto count = static_cast<std::int64_t>(slice.ids.size());
        tokens += count;
        positions += count * slice.first_position + count * (count + 1) / 2;
    }
    return seconds(tokens, positions);
}

ModelledBackEnd::ModelledBackEnd(const ModelledSettings& settings)
    : settings_(settings), cache_(static_cast<std::size_t>(settings.blocks) * block_positions) {}

std::size_t ModelledBackEnd::block_bytes() const { return block_positions * sizeof(Position); }

std::string ModelledBackEnd::identity() const {
    if (!settings_.identity.empty()) return settings_.identity;
    return "hashes by weights " + std::to_string(settings_.weights);
}

bool ModelledBackEnd::fits(const ModelWeights& weights) const {
    return dynamic_cast<const ModelledWeights*>(&weights) != nullptr;
}

void ModelledBackEnd::use(std::shared_ptr<ModelWeights> weights) {
    if (!fits(*weights)) throw std::invalid_argument("these are not weights of a modelled model");
    settings_.weights = static_cast<const ModelledWeights&>(*weights).weights;
}

ModelledBackEnd::Position& ModelledBackEnd::at(std::span<const int> blocks, int position) {
    const auto block = blocks[static_cast<std::size_t>(position / block_positions)];
    return cache_[static_cast<std::size_t>(block) * block_positions +
                  static_cast<std::size_t>(position % block_positions)];
}

std::uint64_t ModelledBackEnd::feed(std::span<const int> blocks, int position, std::uint64_t before,
                                    int id) {
    const std::uint64_t hash = mixed(before, id, settings_.weights);
    at(blocks, position) = {hash, static_cast<std::uint32_t>(id),
                            static_cast<std::uint32_t>(settings_.weights) & most_weights, 0, 0};
    return hash;
}

std::uint64_t ModelledBackEnd::hash_before(std::span<const int> blocks, int position) {
    int first = position;
    while (first > 0 && at(blocks, first - 1).waits) --first;
    std::uint64_t hash = first > 0 ? at(blocks, first - 1).hash : nothing_yet;
    for (; first < position; ++first) {
        Position& linked = at(blocks, first);
        hash = linked.hash = mixed(hash ^ linked.hash, static_cast<int>(linked.id), linked.weights);
        linked.waits = 0;
    }
    return hash;
}

void ModelledBackEnd::link(const LinkedPositions& linked) {
    const auto position = [&](int block, int number) {
        return cache_.begin() + static_cast<std::ptrdiff_t>(block) * block_positions + number;
    };
    const auto first = position(linked.to, linked.to_position);
    std::copy_n(position(linked.from, linked.from_position), linked.positions, first);
    std::for_each(first, first + linked.positions, [&](Position& each) {
        each.hash = mixed(each.hash, linked.shift, 0);
        each.linked = each.waits = 1;
    });
}

void ModelledBackEnd::check(const Slice& slice) {
    std::uint64_t hash = nothing_yet;
    for (int position = 0; position < slice.first_position; ++position) {
        const Position& here = at(slice.blocks, position);
        if (here.linked) {  // its part of the hash is of another sequence
            hash = hash_before(slice.blocks, position + 1);
            continue;
        }
        hash = mixed(hash, static_cast<int>(here.id), here.weights);
        if (hash != here.hash)
            throw std::logic_error("position " + std::to_string(position) +
                                   " of a slice is in no block of its tokens");
    }
}

void ModelledBackEnd::run(std::span<const Slice> slices, std::span<Outcome> out) {
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const Slice& slice = slices[i];
        Outcome& outcome = out[i];
        if (settings_.checks) check(slice);
        int next = -1;
        std::uint64_t hash = nothing_yet;
        outcome.scores.clear();
        for (std::size_t t = 0; t < slice.ids.size(); ++t) {
            const int position = slice.positions.empty()
                                     ? slice.first_position + static_cast<int>(t)
                                     : slice.positions[t];
            if (position != next) hash = hash_before(slice.blocks, position);  // links in between
            next = position + 1;
            hash = feed(slice.blocks, position, hash, slice.ids[t]);
            if (!slice.scored.empty())
                outcome.scores.push_back(
                    slice.scored[t] < 0 ? 0.0 : static_cast<double>(score(hash, slice.scored[t])));
        }
        outcome.finite = true;
        if (!slice.picks) continue;
        outcome.id = pick_id(hash, slice.pick, slice.pick.draw, settings_.vocabulary);
        outcome.log_probability = score(hash, outcome.id);
        outcome.sampled_log_probability = sampled_score(slice.pick, outcome.log_probability);
    }
    if (fails_ && !slices.empty()) {
        out[static_cast<std::size_t>(*fails_) % slices.size()].finite = false;
        fails_.reset();
    }
    step_s_ = settings_.cost.seconds(slices) + transfer_s();
}

int ModelledBackEnd::run_ahead(std::span<const Slice> slices, int steps,
                               std::span<const std::span<const int>> stops, std::span<int> ids,
                               std::span<float> log_probabilities, std::span<float> sampled,
                               std::span<double> seconds) {
    std::int64_t positions = 0;
    for (const Slice& slice : slices) {
        if (settings_.checks) check(slice);
        positions += slice.first_position;
    }
    int made = steps;
    for (std::size_t first = 0; first < slices.size(); first += slices_together) {
        const std::size_t count = std::min(slices_together, slices.size() - first);
        made = run_some_ahead(slices.subspan(first, count), made, stops.subspan(first, count),
                              ids.data() + first, log_probabilities.data() + first,
                              sampled.data() + first, slices.size());
    }
    const auto count = static_cast<std::int64_t>(slices.size());
    const double first_s = transfer_s();
    for (int step = 0; step < made; ++step) {
        positions += count;
        seconds[static_cast<std::size_t>(step)] =
            settings_.cost.seconds(count, positions) + (step == 0 ? first_s : 0);
    }
    step_s_ = seconds[static_cast<std::size_t>(made) - 1];
    return made;
}

/// Enough slices that none waits for the hash of its last token, and so few that the blocks they
/// write stay in the first cache. ids, scores, sampled: [steps][stride]. Returns after how many of
/// `steps` one stops; others, before or behind, may have been fed more, which nothing reads.
int ModelledBackEnd::run_some_ahead(std::span<const Slice> slices, int steps,
                                    std::span<const std::span<const int>> stops, int* ids,
                                    float* scores, float* sampled, std::size_t stride) {
    std::uint64_t hashes[slices_together];
    int fed[slices_together];
    for (std::size_t i = 0; i < slices.size(); ++i) {
        hashes[i] = hash_before(slices[i].blocks, slices[i].first_position);
        fed[i] = slices[i].ids[0];
    }
    for (int step = 0; step < steps; ++step, ids += stride, scores += stride, sampled += stride) {
        bool stopped = false;
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const Slice& slice = slices[i];
            hashes[i] = feed(slice.blocks, slice.first_position + step, hashes[i], fed[i]);
            fed[i] =
                pick_id(hashes[i], slice.pick, slice.pick.draw + static_cast<std::uint64_t>(step),
                        settings_.vocabulary);
            ids[i] = fed[i];
            scores[i] = score(hashes[i], fed[i]);
            sampled[i] = sampled_score(slice.pick, scores[i]);
            for (const int stop : stops[i]) stopped = stopped || stop == fed[i];
        }
        if (stopped) return step + 1;
    }
    return steps;
}

double ModelledBackEnd::transfer_s() {
    return static_cast<double>(std::exchange(transferred_, 0)) * settings_.cost.block_s;
}

void ModelledBackEnd::copy_block(int from, int to, int positions) {
    std::copy_n(cache_.begin() + static_cast<std::ptrdiff_t>(from) * block_positions, positions,
                cache_.begin() + static_cast<std::ptrdiff_t>(to) * block_positions);
}

void ModelledBackEnd::read_block(int block, std::span<std::byte> out) const {
    ++transferred_;
    std::memcpy(out.data(), &cache_[static_cast<std::size_t>(block) * block_positions], out.size());
}

void ModelledBackEnd::write_block(int block, std::span<const std::byte> in) {
    ++transferred_;
    std::memcpy(&cache_[static_cast<std::size_t>(block) * block_positions], in.data(), in.size());
}

ModelledToken modelled_token(std::span<const int> tokens, std::span<const std::uint64_t> weights,
                             const Pick& pick, int vocabulary) {
    std::uint64_t hash = nothing_yet;
    for (std::size_t i = 0; i < tokens.size(); ++i) hash = mixed(hash, tokens[i], weights[i]);
    const int id = pick_id(hash, pick, pick.draw, vocabulary);
    return {id, score(hash, id), sampled_score(pick, score(hash, id))};
}

}  // namespace assay::decode
