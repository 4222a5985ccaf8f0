#include "impls/decode/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "impls/decode/engine.hpp"
#include "impls/nn/hashes.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

Sampler::Sampler(const Sampling& sampling) : sampling_(sampling) {
    if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
        throw UserError("the temperature must be 0 (greedy) or a positive number");
    if (sampling.top_k < 0) throw UserError("top-k must be 0 (all tokens) or a positive number");
    if (!(sampling.top_p > 0 && sampling.top_p <= 1))
        throw UserError("top-p must be above 0 and at most 1");
}

int Sampler::choose(std::span<const float> logits) {
    const auto greedy = std::max_element(logits.begin(), logits.end());
    if (sampling_.temperature == 0) return static_cast<int>(greedy - logits.begin());

    // (weight, token); equal ones by token, so that a seed gives one sequence.
    std::vector<std::pair<double, int>> candidates(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
        candidates[i] = {
            std::exp((static_cast<double>(logits[i]) - *greedy) / sampling_.temperature),
            -static_cast<int>(i)};
    const auto heavier = [](const auto& a, const auto& b) { return a > b; };
    if (sampling_.top_k > 0 && static_cast<std::size_t>(sampling_.top_k) < candidates.size()) {
        std::nth_element(candidates.begin(), candidates.begin() + sampling_.top_k, candidates.end(),
                         heavier);
        candidates.resize(static_cast<std::size_t>(sampling_.top_k));
    }
    // Only a nucleus needs the order: sorting a whole vocabulary costs as much as decoding a token.
    if (sampling_.top_p < 1) std::sort(candidates.begin(), candidates.end(), heavier);
    double all = 0;
    for (const auto& each : candidates) all += each.first;
    // The fewest tokens that together have the share top-p; at least one.
    double kept = 0;
    std::size_t count = 0;
    while (count < candidates.size() && (count == 0 || kept < sampling_.top_p * all))
        kept += candidates[count++].first;

    const std::uint64_t random = nn::counter_hash(nn::counter_hash(sampling_.seed) + draws_++);
    double left = kept * std::ldexp(static_cast<double>(random >> 11), -53);
    for (std::size_t i = 0; i < count; ++i) {
        left -= candidates[i].first;
        if (left < 0) return -candidates[i].second;
    }
    return -candidates[count - 1].second;
}

double log_probability(std::span<const float> logits, int token) {
    const float most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += static_cast<double>(std::exp(logit - most));
    return static_cast<double>(logits[static_cast<std::size_t>(token)]) -
           static_cast<double>(most) - std::log(sum);
}

double nats_of_window(Engine& engine, std::span<const int> window,
                      const std::function<void(std::int64_t)>& progress) {
    engine.reset();
    const auto vocabulary = static_cast<std::size_t>(engine.config().vocabulary);
    const std::size_t scored = window.size() - 1;
    double sum = 0;
    for (std::size_t at = 0; at < scored;) {
        const std::size_t count = std::min<std::size_t>(scored - at, Engine::largest_chunk);
        const auto logits = engine.feed_chunk(window.subspan(at, count));
        for (std::size_t i = 0; i < count; ++i)
            sum -= log_probability(logits.subspan(i * vocabulary, vocabulary), window[at + i + 1]);
        at += count;
        if (progress) progress(static_cast<std::int64_t>(at));
    }
    return sum;
}

}  // namespace assay::decode
