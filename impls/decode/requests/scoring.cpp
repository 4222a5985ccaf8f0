#include "impls/decode/requests/scoring.hpp"

#include "suite/base/error.hpp"

namespace assay::decode {

int blocks_for_window(int tokens, int context) { return least_blocks(tokens - 1, 1, context); }

double nats_of_window(BatchEngine& engine, std::span<const int> window,
                      const std::function<void(std::int64_t)>& progress) {
    if (window.size() < 2) throw UserError("a window of fewer than 2 tokens scores nothing");
    BatchRequest request;
    request.prompt.assign(window.begin(), window.end() - 1);
    request.forced_ids = {window.back()};
    request.prompt_log_probabilities = true;
    engine.submit(request);
    const std::int64_t fed = engine.stats().computed_tokens;
    StepReport report;
    while (!engine.idle()) {
        engine.step(report);
        if (progress) progress(engine.stats().computed_tokens - fed);
    }
    if (report.ended.at(0).why == Finish::failed)
        throw UserError("the model gives no finite logits after this text");
    double nats = 0;
    for (const double each : report.ended[0].prompt_log_probabilities) nats -= each;
    return nats - report.tokens.at(0).log_probability;
}

}  // namespace assay::decode
