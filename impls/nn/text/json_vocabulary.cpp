// The tokenizer beside a Hugging Face model: tokenizer.json, and which tokens open and close a
// text.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/nn/files/untrusted_file.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_tokenizer_json(const std::string& what) {
    throw UserError("tokenizer.json cannot be used: " + what);
}

/// Refuses a member that is present and no text.
std::string_view text_member(const json& parent, const char* key, std::string_view otherwise) {
    const json& value = member(parent, key);
    if (value.is_null()) return otherwise;
    if (!value.is_string()) refuse_tokenizer_json(std::string("\"") + key + "\" is no text");
    return value.get_ref<const std::string&>();
}

/// Refuses a member that is present and neither true nor false.
bool flag_member(const json& parent, const char* key, bool otherwise) {
    const json& value = member(parent, key);
    if (value.is_null()) return otherwise;
    if (!value.is_boolean())
        refuse_tokenizer_json(std::string("\"") + key + "\" is neither true nor false");
    return value.get<bool>();
}

/// The steps of a pre-tokenizer, of which a Sequence has several.
std::vector<const json*> steps_of(const json& pre_tokenizer) {
    if (text_member(pre_tokenizer, "type", "") != "Sequence") return {&pre_tokenizer};
    std::vector<const json*> steps;
    for (const json& step : member(pre_tokenizer, "pretokenizers")) steps.push_back(&step);
    return steps;
}

/// Whether it is ByteLevel that cuts by its own pattern (`cuts`), or that does not.
bool is_byte_level(const json& step, bool cuts) {
    if (text_member(step, "type", "") != "ByteLevel") return false;
    if (flag_member(step, "add_prefix_space", true))
        refuse_tokenizer_json("it puts a space in front of texts (add_prefix_space)");
    return flag_member(step, "use_regex", true) == cuts;
}

/// LLaMA 3's pattern; `numbers`: what a word of numbers is in it.
bool is_split(const json& step, std::string_view numbers) {
    const std::string pattern =
        fmt::format(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{})"
                    R"(| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
                    numbers);
    return text_member(step, "type", "") == "Split" &&
           text_member(member(step, "pattern"), "Regex", "") == pattern &&
           text_member(step, "behavior", "") == "Isolated" && !flag_member(step, "invert", false);
}

bool is_single_digits(const json& step) {
    return text_member(step, "type", "") == "Digits" &&
           flag_member(step, "individual_digits", false);
}

/// Which word rule the pre-tokenizer is: ByteLevel is gpt2, Digits before it smollm, Split by LLaMA
/// 3's or Qwen2's pattern before it llama3 or qwen2.
WordRule words_of_pre_tokenizer(const json& pre_tokenizer) {
    const auto steps = steps_of(pre_tokenizer);
    if (steps.size() == 1 && is_byte_level(*steps[0], true)) return WordRule::gpt2;
    if (steps.size() == 2 && is_single_digits(*steps[0]) && is_byte_level(*steps[1], true))
        return WordRule::smollm;
    if (steps.size() == 2 && is_split(*steps[0], R"(\p{N}{1,3})") &&
        is_byte_level(*steps[1], false))
        return WordRule::llama3;
    if (steps.size() == 2 && is_split(*steps[0], R"(\p{N})") && is_byte_level(*steps[1], false))
        return WordRule::qwen2;
    std::string types;
    for (const json* step : steps)
        types.append(types.empty() ? "" : ", ").append(shown(text_member(*step, "type", "none")));
    refuse_tokenizer_json("its pre-tokenizer (" + types +
                          ") is none of: ByteLevel with its own pattern, that after Digits "
                          "(each alone), ByteLevel after a Split by LLaMA 3's or Qwen2's pattern");
}

/// For messages; what is not UTF-8 is replaced.
std::string excerpt(const json& value) {
    return value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 100);
}

/// Refuses what would silently give other tokens than the file means.
void check_supported(const json& tokenizer, const json& model) {
    if (text_member(model, "type", "BPE") != "BPE")
        refuse_tokenizer_json("its model is not BPE (byte-pair encoding)");
    if (const json& normalizer = member(tokenizer, "normalizer");
        !normalizer.is_null() && text_member(normalizer, "type", "") != "NFC")
        refuse_tokenizer_json("it changes texts before encoding them (normalizer), not by NFC");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!text_member(model, key, "").empty())
            refuse_tokenizer_json(std::string("its model has a ") + key);
    if (flag_member(model, "byte_fallback", false))
        refuse_tokenizer_json(
            "its model falls back to bytes (byte_fallback), it is not byte-level");
    if (text_member(member(tokenizer, "decoder"), "type", "ByteLevel") != "ByteLevel")
        refuse_tokenizer_json("its decoder is not ByteLevel");
}

/// Puts tokens in their places; every place is filled exactly once.
class Places {
  public:
    explicit Places(std::size_t limit) : limit_(limit) {}

    void put(const json& id, Token token) {
        const auto index = index_of(id, token);
        if (index >= tokens_.size()) tokens_.resize(index + 1);
        if (tokens_[index])
            refuse_tokenizer_json(fmt::format("{} and {} have the same id {}",
                                              shown(tokens_[index]->written), shown(token.written),
                                              excerpt(id)));
        tokens_[index] = std::move(token);
    }

    /// An added token may be one of the model's tokens too, and says better what it is.
    void put_added(const json& id, Token token) {
        const auto index = index_of(id, token);
        if (index < tokens_.size() && tokens_[index] && tokens_[index]->written == token.written)
            tokens_[index] = std::move(token);
        else
            put(id, std::move(token));
    }

    std::vector<Token> all() && {
        std::vector<Token> tokens;
        for (auto& token : tokens_) {
            if (!token) refuse_tokenizer_json("no token has id " + std::to_string(tokens.size()));
            tokens.push_back(std::move(*token));
        }
        return tokens;
    }

  private:
    std::size_t index_of(const json& id, const Token& token) const {
        const auto index = number_below(static_cast<std::int64_t>(limit_), id);
        if (!index)
            refuse_tokenizer_json(fmt::format("{} has id {}; ids are whole numbers from 0 to {}",
                                              shown(token.written), excerpt(id), limit_ - 1));
        return static_cast<std::size_t>(*index);
    }

    std::size_t limit_;  ///< there cannot be more tokens than the file lists
    std::vector<std::optional<Token>> tokens_;
};

Token added_token(const json& entry) {
    const std::string content(text_member(entry, "content", ""));
    for (const char* key : {"lstrip", "rstrip", "single_word"})
        if (flag_member(entry, key, false))
            refuse_tokenizer_json(
                fmt::format("the added token {} asks for {}", shown(content), key));
    return {content,
            flag_member(entry, "special", false) ? TokenKind::control : TokenKind::literal};
}

std::pair<std::string, std::string> merge_pair(const json& merge) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
        return {merge[0], merge[1]};
    if (merge.is_string()) {
        const std::string& text = merge.get_ref<const std::string&>();
        if (const auto space = text.find(' '); space != std::string::npos)
            return {text.substr(0, space), text.substr(space + 1)};
    }
    refuse_tokenizer_json("the merge " + excerpt(merge) + " is no pair");
}

std::optional<int> id_named(const Vocabulary& vocabulary, const json& named, const char* key) {
    const json& value = member(named, key);  // a text, or an added token written out
    const std::string name(value.is_object() ? text_member(value, "content", "")
                                             : text_member(named, key, ""));
    if (value.is_null()) return std::nullopt;
    const auto& tokens = vocabulary.tokens;
    const auto found = std::find_if(tokens.begin(), tokens.end(),
                                    [&](const Token& token) { return token.written == name; });
    if (found == tokens.end())
        throw UserError(
            fmt::format("tokenizer_config.json: {} is {}, which is no token of tokenizer.json", key,
                        shown(name)));
    return static_cast<int>(found - tokens.begin());
}

/// −1 stands for none in these files.
std::vector<int> ids_numbered(const json& config, const char* key, const char* file = "config") {
    const json& value = member(config, key);
    if (value == -1) return {};
    auto ids = token_ids(value);
    if (!ids)
        throw UserError(fmt::format("{}.json: {} is {}, no token id and no list of them", file, key,
                                    value_text(value)));
    return *std::move(ids);
}

/// Where several are listed, the first one is it.
std::optional<int> id_numbered(const json& config, const char* key) {
    const std::vector<int> ids = ids_numbered(config, key);
    return ids.empty() ? std::nullopt : std::optional(ids.front());
}

}  // namespace

std::optional<std::vector<int>> token_ids(const json& value) {
    std::vector<int> ids;
    const auto add = [&](const json& each) {
        const auto id = number_below(std::int64_t{1} << 31, each);
        if (id) ids.push_back(static_cast<int>(*id));
        return id.has_value();
    };
    if (value.is_null()) return ids;
    const bool fit = value.is_array() ? std::all_of(value.begin(), value.end(), add) : add(value);
    return fit ? std::optional(ids) : std::nullopt;
}

std::vector<int> text_ends_of_config(const json& config, const char* name) {
    return ids_numbered(config, "eos_token_id", name);
}

Vocabulary vocabulary_from_tokenizer_json(const json& tokenizer) {
    const json& model = member(tokenizer, "model");
    if (!member(model, "vocab").is_object()) refuse_tokenizer_json("it has no model with a vocab");
    check_supported(tokenizer, model);

    const json& added = member(tokenizer, "added_tokens");
    Places places(model["vocab"].size() + added.size());
    for (const auto& [written, id] : model["vocab"].items()) places.put(id, {written});
    for (const json& entry : added) places.put_added(member(entry, "id"), added_token(entry));

    Vocabulary vocabulary;
    vocabulary.tokens = std::move(places).all();
    if (!member(model, "merges").is_array()) refuse_tokenizer_json("its model has no merges");
    for (const json& merge : model["merges"]) vocabulary.merges.push_back(merge_pair(merge));
    vocabulary.words = words_of_pre_tokenizer(member(tokenizer, "pre_tokenizer"));
    vocabulary.words_before_merges = flag_member(model, "ignore_merges", false);
    vocabulary.composed = !member(tokenizer, "normalizer").is_null();
    return vocabulary;
}

void name_text_ends(Vocabulary& vocabulary, const json& tokenizer_config, const json& config) {
    vocabulary.start_of_text = id_named(vocabulary, tokenizer_config, "bos_token");
    vocabulary.end_of_text = id_named(vocabulary, tokenizer_config, "eos_token");
    if (!vocabulary.start_of_text) vocabulary.start_of_text = id_numbered(config, "bos_token_id");
    if (!vocabulary.end_of_text) vocabulary.end_of_text = id_numbered(config, "eos_token_id");
}

}  // namespace assay::nn
