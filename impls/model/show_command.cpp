// assay model show FILE
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/model/named_models.hpp"
#include "impls/model/prompt.hpp"
#include "impls/model/tool.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/text/chat.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::model {
namespace {

using nlohmann::json;

/// All tensors of one type.
struct TypeShare {
    nn::TensorType type = nn::TensorType::f32;
    std::int64_t tensors = 0, elements = 0;
    std::uint64_t bytes = 0;
};

struct TokenizerSummary {
    int size = 0;
    std::optional<int> start_of_text, end_of_text;
    std::vector<int> text_ends;  ///< all of them
    bool chat = false;           ///< a chat template that `assay model generate --chat` knows
};

struct Summary {
    std::string file, format;
    std::uint64_t file_bytes = 0;
    nn::DecoderConfig config;
    std::vector<TypeShare> types;  ///< the largest first
    std::optional<TokenizerSummary> tokenizer;
    std::string no_tokenizer;  ///< why there is none
    /// Of the decoder's fp32 cache, for one position over all layers.
    std::uint64_t kv_cache_bytes_per_token = 0;
};

void require_all(const nn::TensorFile& file, const nn::DecoderConfig& config) {
    const auto require = [&](const std::string& name) {
        const nn::ParameterSource source = parameter_source(file, config, name);
        file.require(source.tensor, source.stored_shape);
    };
    for (const nn::NamedShape& each : shared_parameters(config)) require(each.name);
    for (int layer = 0; layer < config.layers; ++layer)
        for (const nn::NamedShape& each : layer_parameters(config))
            require("layer" + std::to_string(layer) + "/" + each.name);
}

std::vector<TypeShare> shares_of(const nn::TensorFile& file) {
    std::vector<TypeShare> shares;
    for (const nn::TensorEntry& tensor : file.tensors()) {
        auto share = std::find_if(shares.begin(), shares.end(),
                                  [&](const TypeShare& each) { return each.type == tensor.type; });
        if (share == shares.end()) share = shares.insert(shares.end(), {tensor.type});
        ++share->tensors;
        share->elements += tensor.elements();
        share->bytes += tensor.bytes;
    }
    std::stable_sort(shares.begin(), shares.end(),
                     [](const TypeShare& a, const TypeShare& b) { return a.bytes > b.bytes; });
    return shares;
}

json number_or_null(const std::optional<int>& number) {
    return number ? json(*number) : json(nullptr);
}

std::string id_text(const std::optional<int>& id) { return id ? fmt::format("{}", *id) : "none"; }

std::string size_text(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string line(std::string_view name, std::string_view value) {
    return fmt::format("{:<12} {}\n", name, report::printable(value));
}

std::string shape_text(const nn::DecoderConfig& config) {
    std::string text = line(
        "family", fmt::format("{}, {}", to_string(config.family), to_string(config.activation)));
    text += line("layers", fmt::format("{} of width {}, {} hidden neurons", config.layers,
                                       config.width, config.hidden));
    text += line(
        "attention",
        fmt::format("{} heads of width {}, {} key-value heads{}{}", config.heads, config.head_width,
                    config.kv_heads, config.query_key_norms ? ", queries and keys normalised" : "",
                    config.query_key_value_biases ? ", biases of query, key, value" : ""));
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

/// Throws UserError when the file is no model that the decoders know, or lacks a tensor.
Summary summarise(const nn::TensorFile& file) {
    Summary summary;
    summary.file = file.path().string();
    summary.format = file.format() == nn::FileFormat::gguf ? "gguf" : "safetensors";
    summary.file_bytes = file.file_bytes();
    summary.config = nn::read_decoder_config(file);
    require_all(file, summary.config);
    summary.types = shares_of(file);
    const nn::DecoderConfig& config = summary.config;
    summary.kv_cache_bytes_per_token =
        2 * sizeof(float) * static_cast<std::uint64_t>(config.layers) *
        static_cast<std::uint64_t>(config.kv_heads) * static_cast<std::uint64_t>(config.head_width);
    const FoundTokenizer found = find_tokenizer(file);
    summary.no_tokenizer = found.why_not;
    if (const nn::Tokenizer* const tokenizer = found.get())
        summary.tokenizer = {.size = tokenizer->size(),
                             .start_of_text = tokenizer->start_of_text(),
                             .end_of_text = tokenizer->end_of_text(),
                             .text_ends = tokenizer->text_ends(),
                             .chat = nn::chat_default_system(file).has_value()};
    return summary;
}

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
                     {"text_ends", summary.tokenizer->text_ends},
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
            {"query_key_norms", config.query_key_norms},
            {"query_key_value_biases", config.query_key_value_biases},
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
                                 id_text(tokenizer->start_of_text),
                                 tokenizer->text_ends.empty()
                                     ? "none"
                                     : fmt::format("{}", fmt::join(tokenizer->text_ends, " or ")),
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

class ShowCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("file", file_, "GGUF or safetensors file, folder, or data set")
            ->required()
            ->type_name("FILE");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "Examples:\n"
            "  assay model show smollm2-135m-instruct\n"
            "  assay model show ~/models/gpt2 --json");
    }

    int run() override {
        const Summary summary = summarise(nn::TensorFile(locate_file(file_, data::Kind::model)));
        if (json_)
            cli::print_json(to_json(summary));
        else
            std::cout << to_text(summary);
        return 0;
    }

  private:
    std::string file_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_show_command() { return std::make_unique<ShowCommand>(); }

}  // namespace assay::model
