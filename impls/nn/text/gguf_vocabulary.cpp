// The tokenizer inside a GGUF file.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "impls/nn/files/untrusted_file.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_gguf(const std::string& what) {
    throw UserError("the tokenizer in this GGUF file cannot be used: " + what);
}

const json& required(const json& metadata, const char* key, json::value_t kind) {
    const json& value = member(metadata, key);
    if (value.is_null()) refuse_gguf(std::string("it has no ") + key);
    if (value.type() != kind)
        refuse_gguf(fmt::format("{} is {}, no {}", key, value_text(value),
                                kind == json::value_t::array ? "list" : "text"));
    return value;
}

std::string text_of(const json& value, const char* key) {
    if (!value.is_string())
        refuse_gguf(fmt::format("{} holds {}, no text", key, value_text(value)));
    return value.get<std::string>();
}

/// The numbers of GGUF's token types.
TokenKind kind_of(const json& type) {
    if (!type.is_number_integer())
        refuse_gguf("tokenizer.ggml.token_type holds " + value_text(type) + ", no whole number");
    switch (type.get<std::int64_t>()) {
        case 1:
            return TokenKind::normal;
        case 2:  // unknown
        case 3:
            return TokenKind::control;
        case 4:
            return TokenKind::literal;
        case 5:
            return TokenKind::unused;
    }
    refuse_gguf("token type " + type.dump() +
                " is not one of 1 … 5, which byte-level tokenizers have");
}

std::vector<Token> read_tokens(const json& metadata) {
    constexpr auto key = "tokenizer.ggml.tokens", types_key = "tokenizer.ggml.token_type";
    std::vector<Token> tokens;
    for (const json& token : required(metadata, key, json::value_t::array))
        tokens.push_back({text_of(token, key)});
    if (!member(metadata, types_key).is_null()) {  // absent: all normal
        const json& types = required(metadata, types_key, json::value_t::array);
        if (types.size() != tokens.size())
            refuse_gguf("there are " + std::to_string(tokens.size()) + " tokens and " +
                        std::to_string(types.size()) + " token types");
        for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].kind = kind_of(types[i]);
    }
    return tokens;
}

std::vector<std::pair<std::string, std::string>> read_merges(const json& metadata) {
    constexpr auto key = "tokenizer.ggml.merges";
    std::vector<std::pair<std::string, std::string>> merges;
    for (const json& merge : required(metadata, key, json::value_t::array)) {
        const std::string text = text_of(merge, key);
        const std::size_t space = text.find(' ');
        if (space == std::string::npos)
            refuse_gguf(fmt::format("merge {} {} is no pair", merges.size(), shown(text)));
        merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    }
    return merges;
}

WordRule read_words(const json& metadata) {
    constexpr auto key = "tokenizer.ggml.pre";
    const json& value = member(metadata, key);
    const std::string name = value.is_null() ? "default" : text_of(value, key);
    if (name == "smollm") return WordRule::smollm;
    if (name == "llama-bpe") return WordRule::llama3;
    if (name == "qwen2") return WordRule::qwen2;
    // Files older than the key mean GPT-2's rule, the only one there was.
    if (name == "gpt-2" || name == "default") return WordRule::gpt2;
    refuse_gguf(fmt::format(
        "it cuts words by the rule {} ({}); gpt-2, default, smollm, llama-bpe and qwen2 are "
        "supported",
        shown(name), key));
}

std::vector<int> read_ids(const json& metadata, const std::string& key) {
    const json& value = member(metadata, key.c_str());
    auto ids = token_ids(value);
    if (!ids) refuse_gguf(fmt::format("{} is {}, no token id", key, value_text(value)));
    return *std::move(ids);
}

std::optional<int> read_id(const json& metadata, const char* key) {
    const std::vector<int> ids = read_ids(metadata, key);
    return ids.empty() ? std::nullopt : std::optional(ids.front());
}

}  // namespace

std::vector<int> text_ends_of_gguf(const json& metadata) {
    std::vector<int> ends;
    for (const char* const name : {"eos", "eot", "eom"})
        for (const int id : read_ids(metadata, fmt::format("tokenizer.ggml.{}_token_id", name)))
            ends.push_back(id);
    return ends;
}

Vocabulary vocabulary_from_gguf(const json& metadata) {
    constexpr auto model_key = "tokenizer.ggml.model";
    const std::string model = required(metadata, model_key, json::value_t::string);
    if (model != "gpt2")
        refuse_gguf(
            fmt::format("it is of kind {} ({}); byte-level byte-pair encoding (gpt2) is supported",
                        shown(model), model_key));
    Vocabulary vocabulary;
    vocabulary.tokens = read_tokens(metadata);
    vocabulary.merges = read_merges(metadata);
    vocabulary.words = read_words(metadata);
    // GGUF has no keys for these; the original tokenizers have them.
    vocabulary.words_before_merges = vocabulary.words == WordRule::llama3;
    vocabulary.composed = vocabulary.words == WordRule::qwen2;
    vocabulary.start_of_text = read_id(metadata, "tokenizer.ggml.bos_token_id");
    vocabulary.end_of_text = read_id(metadata, "tokenizer.ggml.eos_token_id");
    vocabulary.text_ends = text_ends_of_gguf(metadata);
    return vocabulary;
}

}  // namespace assay::nn
