#include "impls/model/perplexity.hpp"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/requests/scoring.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "suite/base/error.hpp"

namespace assay::model {
namespace {

class EngineScorer final : public WindowScorer {
  public:
    EngineScorer(const nn::TensorFile& file, const decode::BackEndOptions& options)
        : engine_(decode::back_ends_of(file, options)(), {.max_batch = 1, .prefix = false}) {}

    double nll(std::span<const int> window,
               const std::function<void(std::int64_t)>& progress) override {
        return decode::nats_of_window(engine_, window, progress);
    }

  private:
    decode::BatchEngine engine_;
};

}  // namespace

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

std::unique_ptr<WindowScorer> engine_scorer(const nn::TensorFile& file,
                                            const ScorerOptions& options) {
    const int context = nn::read_decoder_config(file).context;
    decode::BackEndOptions engine;
    // Stored weights are computed with in fp32.
    engine.model.weights = options.bf16 ? decode::WeightType::bf16 : decode::WeightType::stored;
    engine.threads = options.threads;
    engine.blocks = decode::blocks_for_window(options.context, context);
    return std::make_unique<EngineScorer>(file, engine);
}

}  // namespace assay::model
