#include "impls/model/generation.hpp"

#include <fmt/format.h>

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

}  // namespace

Generation generate(decode::Engine& engine, const nn::Tokenizer* tokenizer,
                    std::vector<int> prompt_ids, int max_tokens, const decode::Sampling& sampling,
                    const std::function<void(std::string_view)>& on_text) {
    Generation result;
    result.prompt_ids = std::move(prompt_ids);
    if (result.prompt_ids.empty()) throw UserError("the prompt is empty; give at least one token");
    if (max_tokens < 1) return result;
    decode::Sampler sampler(sampling);
    if (tokenizer) result.text.emplace();

    Clock::time_point start = Clock::now();
    std::span<const float> logits = engine.feed(result.prompt_ids);
    result.prefill_s = seconds_since(start);
    const int room = engine.context() - engine.position();
    result.bytes_per_token = engine.bytes_per_token();

    start = Clock::now();
    for (;;) {
        const int id = sampler.choose(logits);
        result.ids.push_back(id);
        if (tokenizer) {
            if (tokenizer->ends_text(id)) break;
            const std::string piece = tokenizer->decode({&id, 1});
            *result.text += piece;
            if (on_text) on_text(piece);
        }
        if (static_cast<int>(result.ids.size()) == max_tokens) break;
        result.context_full = result.decode_steps == room;
        if (result.context_full) break;
        logits = engine.feed({&id, 1});
        ++result.decode_steps;
    }
    result.decode_s = seconds_since(start);
    result.bytes_per_token = (result.bytes_per_token + engine.bytes_per_token()) / 2;
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
