#include "impls/model/generation.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"

namespace assay::model {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Generation generate(decode::BatchEngine& engine, const decode::BatchRequest& request, NewText* text,
                    const std::function<void(std::string_view)>& on_text) {
    Generation result;
    result.prompt_ids = request.prompt;
    engine.submit(request);

    decode::StepReport report;
    Clock::time_point start = Clock::now();
    while (report.tokens.empty() && !engine.idle()) engine.step(report);
    result.prefill_s = seconds_since(start);

    std::size_t heard = 0;
    const auto hear_up_to = [&](std::size_t end) {
        if (on_text && end > heard)
            on_text(std::string_view(text->text()).substr(heard, end - heard));
        heard = end;
    };
    std::uint64_t first_bytes = 0;
    start = Clock::now();
    for (;;) {
        for (const decode::MadeToken& token : report.tokens) {
            result.ids.push_back(token.id);
            if (!text) continue;
            text->add(token.id);
            hear_up_to(text->settled());
        }
        if (engine.idle()) break;
        report.clear();
        engine.step(report);
        if (result.decode_steps++ == 0) first_bytes = engine.back_end().step_bytes();
    }
    result.decode_s = seconds_since(start);
    result.finish = report.ended.at(0).why;
    if (result.finish == decode::Finish::failed)
        throw UserError("the model gives no finite logits after this text");
    result.bytes_per_token = (first_bytes + engine.back_end().step_bytes()) / 2;
    if (!text) return result;
    hear_up_to(text->text().size());
    result.text = text->text();
    return result;
}

std::optional<AgainstBound> against_bound(const Generation& generation, double read_bytes_per_s) {
    if (generation.decode_steps == 0) return std::nullopt;
    return AgainstBound{read_bytes_per_s, generation.decode_steps / generation.decode_s,
                        read_bytes_per_s / static_cast<double>(generation.bytes_per_token)};
}

nlohmann::json to_json(const Generation& generation) {
    return {{"prompt_ids", generation.prompt_ids},
            {"ids", generation.ids},
            {"text", generation.text ? nlohmann::json(*generation.text) : nlohmann::json()},
            {"finish", to_string(generation.finish)},
            {"prefill_s", generation.prefill_s},
            {"decode_s", generation.decode_s}};
}

nlohmann::json to_json(const AgainstBound& bound) {
    return {{"read_bytes_per_s", bound.read_bytes_per_s},
            {"tokens_per_s", bound.tokens_per_s},
            {"bound_tokens_per_s", bound.bound_tokens_per_s},
            {"share", bound.share()}};
}

}  // namespace assay::model
