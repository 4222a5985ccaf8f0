#include "impls/model/generation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"

namespace assay::model {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<int> ends_of_text(const nn::Tokenizer& tokenizer, int vocabulary) {
    std::vector<int> ids;
    for (int id = 0; id < std::min(tokenizer.size(), vocabulary); ++id)
        if (tokenizer.ends_text(id)) ids.push_back(id);
    return ids;
}

}  // namespace

Generation generate(decode::BatchEngine& engine, const nn::Tokenizer* tokenizer,
                    std::vector<int> prompt_ids, int max_tokens, const decode::Sampling& sampling,
                    const std::function<void(std::string_view)>& on_text) {
    Generation result;
    result.prompt_ids = std::move(prompt_ids);
    if (result.prompt_ids.empty()) throw UserError("the prompt is empty; give at least one token");
    if (max_tokens < 1) return result;
    if (tokenizer) result.text.emplace();
    decode::BatchRequest request;
    request.prompt = result.prompt_ids;
    request.max_tokens = max_tokens;
    request.sampling = sampling;
    if (tokenizer) request.stop_ids = ends_of_text(*tokenizer, engine.back_end().vocabulary());
    engine.submit(request);

    decode::StepReport report;
    Clock::time_point start = Clock::now();
    while (report.tokens.empty() && !engine.idle()) engine.step(report);
    result.prefill_s = seconds_since(start);

    std::uint64_t first_bytes = 0;
    start = Clock::now();
    for (;;) {
        for (const decode::MadeToken& token : report.tokens) {
            result.ids.push_back(token.id);
            if (!tokenizer || tokenizer->ends_text(token.id)) continue;
            const std::string piece = tokenizer->decode({&token.id, 1});
            *result.text += piece;
            if (on_text) on_text(piece);
        }
        if (engine.idle()) break;
        report.clear();
        engine.step(report);
        if (result.decode_steps++ == 0) first_bytes = engine.back_end().step_bytes();
    }
    result.decode_s = seconds_since(start);
    if (report.ended.at(0).why == decode::Finish::failed)
        throw UserError("the model gives no finite logits after this text");
    result.context_full = report.ended[0].why == decode::Finish::context;
    result.bytes_per_token = (first_bytes + engine.back_end().step_bytes()) / 2;
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
            {"prefill_s", generation.prefill_s},
            {"decode_s", generation.decode_s}};
}

nlohmann::json to_json(const AgainstBound& bound) {
    return {{"read_bytes_per_s", bound.read_bytes_per_s},
            {"tokens_per_s", bound.tokens_per_s},
            {"bound_tokens_per_s", bound.bound_tokens_per_s},
            {"share", bound.share()}};
}

std::vector<int> parse_ids(std::string_view text) {
    std::vector<int> ids;
    for (;;) {
        const std::size_t comma = text.find(',');
        const std::string_view one = text.substr(0, comma);
        const char* const end = one.data() + one.size();
        const auto [stop, error] = std::from_chars(one.data(), end, ids.emplace_back());
        if (error != std::errc{} || stop != end)
            throw UserError(
                fmt::format("--ids: '{}' is no token id; give whole numbers separated "
                            "by commas, for example 1,504,3575",
                            one));
        if (comma == std::string_view::npos) return ids;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace assay::model
