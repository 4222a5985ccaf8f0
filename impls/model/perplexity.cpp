#include "impls/model/perplexity.hpp"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "suite/experiment/error.hpp"

namespace assay::model {

double Perplexity::nll_nats_per_token() const { return nll_nats / static_cast<double>(tokens); }
double Perplexity::perplexity() const { return std::exp(nll_nats_per_token()); }
double Perplexity::bits_per_byte() const {
    return nll_nats / std::numbers::ln2 / static_cast<double>(bytes);
}

Perplexity measure_perplexity(std::span<const int> ids, const nn::Tokenizer& tokenizer, int context,
                              WindowScorer& scorer,
                              const std::function<void(std::int64_t)>& progress) {
    if (context < 2) throw UserError("a context of fewer than 2 tokens scores nothing");
    if (ids.size() < 2) throw UserError("the text has fewer than 2 tokens: nothing can be scored");
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    Perplexity result;
    const auto length = static_cast<std::size_t>(context);
    for (std::size_t at = 0; at + 1 < ids.size(); at += length) {
        const auto window = ids.subspan(at, std::min(length, ids.size() - at));
        result.nll_nats += scorer.nll(window, [&](std::int64_t done) {
            if (progress) progress(result.tokens + done);
        });
        result.tokens += static_cast<std::int64_t>(window.size()) - 1;
        for (const int id : window.subspan(1))
            result.bytes += static_cast<std::int64_t>(tokenizer.bytes_of(id));
    }
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

nlohmann::json to_json(const Perplexity& result) {
    return {{"tokens", result.tokens},
            {"nll_nats_per_token", result.nll_nats_per_token()},
            {"perplexity", result.perplexity()},
            {"bits_per_byte", result.bits_per_byte()},
            {"seconds", result.seconds}};
}

}  // namespace assay::model
