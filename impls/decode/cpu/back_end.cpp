#include "impls/decode/cpu/back_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace assay::decode {

CpuBackEnd::CpuBackEnd(std::shared_ptr<CpuModel> model, const PassOptions& options)
    : pass_(std::move(model), options),
      activations_(options.activations),
      picker_(vocabulary(), largest_pass, pass_.context().pool.threads()) {
    tokens_.reserve(largest_pass);
    wanted_.reserve(largest_pass);
    rows_.reserve(largest_pass);
    picked_.resize(largest_pass);
}

std::string CpuBackEnd::identity() const {
    return fmt::format("weights {}, activations {}, cache {}", model().digest(),
                       to_string(activations_), to_string(pass_.cache().type()));
}

bool CpuBackEnd::fits(const ModelWeights& weights) const {
    const auto* const model = dynamic_cast<const CpuModel*>(&weights);
    return model != nullptr && pass_.fits(*model);
}

void CpuBackEnd::use(std::shared_ptr<ModelWeights> weights) {
    if (!fits(*weights))
        throw std::invalid_argument("the new weights are of another shape or type");
    pass_.use(std::static_pointer_cast<CpuModel>(std::move(weights)));
}

void CpuBackEnd::run(std::span<const Slice> slices, std::span<Outcome> out) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    places_.clear();
    bytes_ = 0;
    for (std::size_t s = 0; s < slices.size(); ++s) {
        out[s].id = -1;
        out[s].log_probability = out[s].sampled_log_probability = 0;
        out[s].finite = true;
        out[s].scores.assign(slices[s].scored.size(), 0.0);
        for (std::size_t i = 0; i < slices[s].ids.size(); ++i)
            places_.push_back({static_cast<int>(s), static_cast<int>(i)});
    }
    // Passes of about the same size: weights are unpacked once for each.
    const std::size_t count = places_.size();
    const auto most = static_cast<std::size_t>(pass_.most_tokens());
    const std::size_t passes = (count + most - 1) / most;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        const std::size_t begin = count * pass / passes, end = count * (pass + 1) / passes;
        run_pass(slices, std::span(places_).subspan(begin, end - begin), out);
    }
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
}

void CpuBackEnd::run_pass(std::span<const Slice> slices, std::span<const Place> places,
                          std::span<Outcome> out) {
    tokens_.clear();
    wanted_.clear();
    rows_.clear();
    for (std::size_t t = 0; t < places.size(); ++t) {
        const Slice& slice = slices[static_cast<std::size_t>(places[t].slice)];
        const auto index = static_cast<std::size_t>(places[t].index);
        const int position = slice.positions.empty() ? slice.first_position + places[t].index
                                                     : slice.positions[index];
        tokens_.push_back(
            {.id = slice.ids[index],
             .position = position,
             .blocks = slice.blocks.data(),
             .shift = slice.rotations.empty() ? 0 : slice.rotations[index] - position});
        const bool picks = slice.picks && index + 1 == slice.ids.size();
        const int scored = slice.scored.empty() ? -1 : slice.scored[index];
        if (!picks && scored < 0) continue;
        wanted_.push_back(static_cast<int>(t));
        rows_.push_back({{}, picks ? &slice.pick : nullptr, scored});
    }
    pass_.run(tokens_, wanted_);
    bytes_ += pass_.bytes_of_last_run();
    for (std::size_t r = 0; r < rows_.size(); ++r)
        rows_[r].logits = pass_.logits(static_cast<int>(r));
    picker_.run(pass_.context(), pass_.loops(), rows_, picked_);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        const Place& place = places[static_cast<std::size_t>(wanted_[r])];
        Outcome& outcome = out[static_cast<std::size_t>(place.slice)];
        outcome.finite &= picked_[r].finite;
        if (rows_[r].scored >= 0)
            outcome.scores[static_cast<std::size_t>(place.index)] = picked_[r].score;
        if (!rows_[r].pick) continue;
        outcome.id = picked_[r].id;
        outcome.log_probability = picked_[r].log_probability;
        outcome.sampled_log_probability = picked_[r].sampled_log_probability;
    }
}

void CpuBackEnd::copy_block(int from, int to, int positions) {
    pass_.cache().copy(from, to, positions);
}

void CpuBackEnd::read_block(int block, std::span<std::byte> out) const {
    const auto bytes = pass_.cache().block(block);
    std::copy(bytes.begin(), bytes.end(), out.begin());
}

void CpuBackEnd::write_block(int block, std::span<const std::byte> in) {
    std::copy(in.begin(), in.end(), pass_.cache().block(block).begin());
}

}  // namespace assay::decode
