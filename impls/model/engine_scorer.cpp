#include "impls/decode/engine.hpp"
#include "impls/decode/log_probability.hpp"
#include "impls/model/perplexity.hpp"

namespace assay::model {
namespace {

class EngineScorer final : public WindowScorer {
  public:
    EngineScorer(const nn::TensorFile& file, const decode::EngineOptions& options)
        : engine_(file, options) {}

    double nll(std::span<const int> window,
               const std::function<void(std::int64_t)>& progress) override {
        engine_.reset();
        const auto vocabulary = static_cast<std::size_t>(engine_.config().vocabulary);
        const std::size_t scored = window.size() - 1;
        double sum = 0;
        for (std::size_t at = 0; at < scored;) {
            const std::size_t count =
                std::min<std::size_t>(scored - at, decode::Engine::largest_feed_each);
            const auto logits = engine_.feed_each(window.subspan(at, count));
            for (std::size_t i = 0; i < count; ++i)
                sum -= decode::log_probability(logits.subspan(i * vocabulary, vocabulary),
                                               window[at + i + 1]);
            at += count;
            progress(static_cast<std::int64_t>(at));
        }
        return sum;
    }

  private:
    decode::Engine engine_;
};

}  // namespace

std::unique_ptr<WindowScorer> engine_scorer(const nn::TensorFile& file,
                                            const ScorerOptions& options) {
    decode::EngineOptions engine;
    // Stored weights are computed with in fp32.
    engine.weights = options.bf16 ? decode::WeightType::bf16 : decode::WeightType::stored;
    engine.threads = options.threads;
    engine.context = options.context;
    return std::make_unique<EngineScorer>(file, engine);
}

}  // namespace assay::model
