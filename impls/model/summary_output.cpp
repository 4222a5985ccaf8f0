#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/model/summary.hpp"
#include "suite/cli/live_progress.hpp"

namespace assay::model {
namespace {

using nlohmann::json;

json number_or_null(const std::optional<int>& number) {
    return number ? json(*number) : json(nullptr);
}

std::string id_text(const std::optional<int>& id) { return id ? fmt::format("{}", *id) : "none"; }

std::string size_text(std::uint64_t bytes) { return cli::bytes_text(static_cast<double>(bytes)); }

std::string line(std::string_view name, std::string_view value) {
    return fmt::format("{:<12} {}\n", name, value);
}

std::string shape_text(const nn::DecoderConfig& config) {
    std::string text = line(
        "family", fmt::format("{}, {}", to_string(config.family), to_string(config.activation)));
    text += line("layers", fmt::format("{} of width {}, {} hidden neurons", config.layers,
                                       config.width, config.hidden));
    text += line("attention", fmt::format("{} heads of width {}, {} key-value heads", config.heads,
                                          config.head_width, config.kv_heads));
    text += line("vocabulary",
                 fmt::format("{}, {}", config.vocabulary,
                             config.tied_embeddings ? "embeddings tied" : "embeddings not tied"));
    text += line("context", fmt::format("{} tokens{}", config.context,
                                        config.family == nn::Family::llama
                                            ? fmt::format(", rotary base {}", config.rope_base)
                                            : ""));
    return text + line("parameters", fmt::format("{} ({:.4g} million)", config.parameters(),
                                                 static_cast<double>(config.parameters()) / 1e6));
}

}  // namespace

json to_json(const Summary& summary) {
    const nn::DecoderConfig& config = summary.config;
    json types = json::array();
    for (const TypeShare& each : summary.types)
        types.push_back({{"type", to_string(each.type)},
                         {"tensors", each.tensors},
                         {"elements", each.elements},
                         {"bytes", each.bytes}});
    json tokenizer = nullptr;
    if (summary.tokenizer)
        tokenizer = {{"tokens", summary.tokenizer->size},
                     {"start_of_text", number_or_null(summary.tokenizer->start_of_text)},
                     {"end_of_text", number_or_null(summary.tokenizer->end_of_text)},
                     {"chat", summary.tokenizer->chat}};
    const auto context = static_cast<std::uint64_t>(config.context);
    return {{"file", summary.file},
            {"format", summary.format},
            {"file_bytes", summary.file_bytes},
            {"name", config.name},
            {"family", to_string(config.family)},
            {"activation", to_string(config.activation)},
            {"layers", config.layers},
            {"width", config.width},
            {"hidden", config.hidden},
            {"heads", config.heads},
            {"kv_heads", config.kv_heads},
            {"head_width", config.head_width},
            {"vocabulary", config.vocabulary},
            {"context", config.context},
            {"rope_base", config.family == nn::Family::llama ? json(config.rope_base) : json()},
            {"norm_epsilon", config.norm_epsilon},
            {"tied_embeddings", config.tied_embeddings},
            {"parameters", config.parameters()},
            {"types", types},
            {"tokenizer", tokenizer},
            {"kv_cache_bytes_per_token", summary.kv_cache_bytes_per_token},
            {"kv_cache_bytes", summary.kv_cache_bytes_per_token * context}};
}

std::string to_text(const Summary& summary) {
    const nn::DecoderConfig& config = summary.config;
    std::string text = line("file", fmt::format("{} ({}, {})", summary.file, summary.format,
                                                size_text(summary.file_bytes)));
    if (!config.name.empty()) text += line("name", config.name);
    text += shape_text(config);
    std::string_view name = "weights";
    for (const TypeShare& each : summary.types) {
        text +=
            line(name, fmt::format("{:<5} {:>4} tensors {:>14} elements  {}", to_string(each.type),
                                   each.tensors, each.elements, size_text(each.bytes)));
        name = "";
    }
    if (const auto& tokenizer = summary.tokenizer)
        text += line("tokenizer",
                     fmt::format("{} tokens, start of text {}, end of text {}, {}", tokenizer->size,
                                 id_text(tokenizer->start_of_text), id_text(tokenizer->end_of_text),
                                 tokenizer->chat ? "chat template" : "no known chat template"));
    else
        text += line("tokenizer", "none: " + summary.no_tokenizer);
    return text +
           line("KV cache", fmt::format("{} per token, {} for {} tokens (fp32)",
                                        size_text(summary.kv_cache_bytes_per_token),
                                        size_text(summary.kv_cache_bytes_per_token *
                                                  static_cast<std::uint64_t>(config.context)),
                                        config.context));
}

}  // namespace assay::model
