#include "impls/decode/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "impls/decode/cpu/picker.hpp"
#include "impls/decode/engine.hpp"
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
    const std::vector<SoftmaxPart> parts = softmax_parts(
        loops(), logits, sampling_.temperature > 0 ? sharpness_of(sampling_.temperature) : 1);
    return pick_id(logits, {.sampling = sampling_, .draw = draws_++}, parts);
}

double log_probability(std::span<const float> logits, int token) {
    return static_cast<double>(logits[static_cast<std::size_t>(token)]) -
           log_sum(softmax_parts(loops(), logits, 1));
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
