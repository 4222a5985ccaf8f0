#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "impls/nn/text/tokenizer.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json tokenizer_json() {
    return json::parse(R"({
      "added_tokens": [
        {"id": 0, "content": "<end>", "special": true},
        {"id": 5, "content": "::", "special": false, "lstrip": false}],
      "normalizer": null,
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
      "decoder": {"type": "ByteLevel"},
      "model": {"type": "BPE", "unk_token": null, "continuing_subword_prefix": "",
                "vocab": {"<end>": 0, "a": 1, "b": 2, "ab": 3, "aba": 4},
                "merges": ["a b", ["ab", "a"]]}})");
}

Tokenizer tokenizer(const json& values) {
    return Tokenizer(vocabulary_from_tokenizer_json(values));
}

TEST(JsonVocabulary, ATokenizer) {
    const Tokenizer made = tokenizer(tokenizer_json());
    EXPECT_EQ(made.size(), 6);
    EXPECT_EQ(made.encode("aba::b<end>", true), (std::vector<int>{4, 5, 2, 0}));
    EXPECT_EQ(made.bytes_of(0), 0u);
    EXPECT_EQ(made.bytes_of(5), 2u);
}

TEST(JsonVocabulary, WordRulesAndWholeWords) {
    json values = tokenizer_json();
    EXPECT_EQ(vocabulary_from_tokenizer_json(values).words, WordRule::gpt2);
    EXPECT_FALSE(vocabulary_from_tokenizer_json(values).words_before_merges);
    values["model"]["ignore_merges"] = true;
    values["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Digits"}, {"individual_digits", true}}, values["pre_tokenizer"]}}};
    EXPECT_EQ(vocabulary_from_tokenizer_json(values).words, WordRule::smollm);
    EXPECT_TRUE(vocabulary_from_tokenizer_json(values).words_before_merges);
}

TEST(JsonVocabulary, EndsOfTextByNameThenById) {
    const Vocabulary plain = vocabulary_from_tokenizer_json(tokenizer_json());
    const auto ends = [&](const char* tokenizer_config, const char* config) {
        Vocabulary vocabulary = plain;
        name_text_ends(vocabulary, json::parse(tokenizer_config), json::parse(config));
        return std::pair(vocabulary.start_of_text, vocabulary.end_of_text);
    };
    using Ends = std::pair<std::optional<int>, std::optional<int>>;
    EXPECT_EQ(ends("null", "null"), Ends());
    EXPECT_EQ(ends(R"({"bos_token": "ab", "eos_token": {"content": "<end>"}})",
                   R"({"bos_token_id": 1, "eos_token_id": 1})"),
              Ends(3, 0));
    EXPECT_EQ(ends(R"({"bos_token": null})", R"({"bos_token_id": 1, "eos_token_id": [2, 0]})"),
              Ends(1, 2));
    EXPECT_THROW(ends(R"({"eos_token": "</s>"})", "null"), UserError);
    EXPECT_THROW(ends(R"({"eos_token": 2})", "null"), UserError);
    EXPECT_EQ(ends("null", R"({"bos_token_id": -1, "eos_token_id": -1})"), Ends());
    EXPECT_THROW(ends("null", R"({"eos_token_id": "2"})"), UserError);
}

TEST(JsonVocabulary, AllIdsThatEndATextAreRead) {
    const auto ends = [](const char* config) {
        return text_ends_of_config(json::parse(config), "generation_config");
    };
    EXPECT_EQ(ends(R"({"eos_token_id": [5, 0]})"), (std::vector<int>{5, 0}));
    EXPECT_EQ(ends(R"({"eos_token_id": 5})"), std::vector<int>{5});
    for (const char* const none :
         {"null", "{}", R"({"eos_token_id": null})", R"({"eos_token_id": []})"})
        EXPECT_TRUE(ends(none).empty()) << none;
    for (const char* const wrong : {R"({"eos_token_id": "5"})", R"({"eos_token_id": [5, -2]})",
                                    R"({"eos_token_id": 5.0})", R"({"eos_token_id": [[5]]})"})
        EXPECT_THAT([&] { ends(wrong); }, ::testing::ThrowsMessage<UserError>(
                                              HasSubstr("generation_config.json: eos_token_id is")))
            << wrong;
}

TEST(JsonVocabulary, TextsMayBeComposedFirst) {
    json values = tokenizer_json();
    EXPECT_FALSE(vocabulary_from_tokenizer_json(values).composed);
    values["normalizer"] = {{"type", "NFC"}};
    EXPECT_TRUE(vocabulary_from_tokenizer_json(values).composed);
}

TEST(JsonVocabulary, WhatIsRefused) {
    const auto expect_refused = [](const char* pointer, json value, const char* about) {
        json values = tokenizer_json();
        values[json::json_pointer(pointer)] = std::move(value);
        try {
            tokenizer(values);
            ADD_FAILURE() << "accepted: " << values;
        } catch (const UserError& error) {
            EXPECT_THAT(error.what(), HasSubstr(about));
        }
    };
    expect_refused("/model", nullptr, "no model with a vocab");
    expect_refused("/model/type", "Unigram", "not BPE");
    expect_refused("/model/type", 3, "\"type\" is no text");
    expect_refused("/model/vocab", json::array(), "no model with a vocab");
    expect_refused("/model/vocab/ab", "3", "\"ab\" has id \"3\"");
    expect_refused("/model/vocab/ab", -3, "\"ab\" has id -3");
    expect_refused("/model/vocab/ab", 1'000'000'000, "ids are whole numbers from 0 to 6");
    expect_refused("/model/vocab/ab", 2, "have the same id 2");
    expect_refused("/model/vocab/ab", 6, "no token has id 3");
    expect_refused("/added_tokens/1", {{"id", 5}, {"content", "\x1b["}, {"lstrip", true}},
                   "\"\\x1b[\" asks for lstrip");
    expect_refused("/model/vocab/ab c", 6, "is not written in byte letters");
    expect_refused("/model/merges", nullptr, "no merges");
    expect_refused("/model/merges/0", "ab", "the merge \"ab\" is no pair");
    expect_refused("/model/merges/0", json::array({"a"}), "is no pair");
    expect_refused("/model/merges/0", "a c", "merge 0");
    expect_refused("/model/byte_fallback", true, "byte_fallback");
    expect_refused("/model/byte_fallback", "yes", "neither true nor false");
    expect_refused("/model/continuing_subword_prefix", "##", "continuing_subword_prefix");
    expect_refused("/normalizer", {{"type", "NFKC"}}, "(normalizer), not by NFC");
    expect_refused("/normalizer", "NFC", "normalizer");
    expect_refused("/decoder/type", "WordPiece", "decoder");
    expect_refused("/pre_tokenizer", nullptr, "pre-tokenizer (\"none\")");
    expect_refused("/pre_tokenizer/type", "Whitespace", "pre-tokenizer (\"Whitespace\")");
    expect_refused("/pre_tokenizer/add_prefix_space", true, "add_prefix_space");
    expect_refused("/pre_tokenizer/use_regex", false, "pre-tokenizer (\"ByteLevel\")");
    expect_refused("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", json::array()}},
                   "pre-tokenizer ()");
    expect_refused("/added_tokens/1/lstrip", true, "\"::\" asks for lstrip");
    expect_refused("/added_tokens/1/id", 1, "have the same id 1");
    expect_refused("/added_tokens/1/content", "", "token 5 is empty");
    const json split{{"type", "Split"},
                     {"pattern", {{"Regex", "\\s+"}}},
                     {"behavior", "Isolated"},
                     {"invert", false}};
    const json silent{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    expect_refused("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, silent}}},
                   "pre-tokenizer (\"Split\", \"ByteLevel\")");
    EXPECT_THROW(tokenizer(nullptr), UserError);
    EXPECT_THROW(tokenizer(json::array({1})), UserError);
}

}  // namespace
}  // namespace assay::nn
