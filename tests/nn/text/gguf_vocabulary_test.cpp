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

json metadata() {
    return {{"general.name", "a model"},
            {"tokenizer.ggml.model", "gpt2"},
            {"tokenizer.ggml.pre", "smollm"},
            {"tokenizer.ggml.tokens",
             {"<end>", "a", "b", "1", "ab", "\u0120", "\u0120ab", "::", "[PAD]"}},
            {"tokenizer.ggml.token_type", {3, 1, 1, 1, 1, 1, 1, 4, 5}},
            {"tokenizer.ggml.merges", {"a b", "\u0120 ab"}},
            {"tokenizer.ggml.bos_token_id", 0u},
            {"tokenizer.ggml.eos_token_id", 0u}};
}

TEST(GgufVocabulary, ATokenizer) {
    const Tokenizer tokenizer(vocabulary_from_gguf(metadata()));
    EXPECT_EQ(tokenizer.size(), 9);
    EXPECT_EQ(tokenizer.end_of_text(), 0);
    EXPECT_EQ(tokenizer.encode("ab ab 1a::b<end>", true),
              (std::vector<int>{4, 6, 5, 3, 1, 7, 2, 0}));
}

TEST(GgufVocabulary, WordRules) {
    json values = metadata();
    EXPECT_EQ(vocabulary_from_gguf(values).words, WordRule::smollm);
    for (const char* name : {"gpt-2", "default"}) {
        values["tokenizer.ggml.pre"] = name;
        EXPECT_EQ(vocabulary_from_gguf(values).words, WordRule::gpt2);
    }
    EXPECT_FALSE(vocabulary_from_gguf(values).words_before_merges);
    values["tokenizer.ggml.pre"] = "llama-bpe";
    EXPECT_EQ(vocabulary_from_gguf(values).words, WordRule::llama3);
    EXPECT_TRUE(vocabulary_from_gguf(values).words_before_merges);
    EXPECT_FALSE(vocabulary_from_gguf(values).composed);
    values["tokenizer.ggml.pre"] = "qwen2";
    EXPECT_EQ(vocabulary_from_gguf(values).words, WordRule::qwen2);
    EXPECT_FALSE(vocabulary_from_gguf(values).words_before_merges);
    EXPECT_TRUE(vocabulary_from_gguf(values).composed);
    values.erase("tokenizer.ggml.pre");
    EXPECT_EQ(vocabulary_from_gguf(values).words, WordRule::gpt2);
}

TEST(GgufVocabulary, EndsAndTypesMayBeAbsent) {
    json values = metadata();
    for (const char* key : {"bos_token_id", "eos_token_id", "token_type"})
        values.erase(std::string("tokenizer.ggml.") + key);
    const Vocabulary vocabulary = vocabulary_from_gguf(values);
    EXPECT_EQ(vocabulary.end_of_text, std::nullopt);
    EXPECT_EQ(vocabulary.start_of_text, std::nullopt);
    EXPECT_EQ(vocabulary.tokens[8].kind, TokenKind::normal);
}

TEST(GgufVocabulary, AllIdsThatEndATextAreRead) {
    json values = metadata();
    values["tokenizer.ggml.eot_token_id"] = 7u;
    values["tokenizer.ggml.eom_token_id"] = std::int32_t{3};
    const Tokenizer tokenizer(vocabulary_from_gguf(values));
    EXPECT_EQ(tokenizer.end_of_text(), 0);
    EXPECT_EQ(tokenizer.text_ends(), (std::vector<int>{0, 3, 7}));
    values["tokenizer.ggml.eos_token_id"] = {2, 0};
    EXPECT_EQ(vocabulary_from_gguf(values).end_of_text, 2);
    EXPECT_EQ(text_ends_of_gguf(values), (std::vector<int>{2, 0, 7, 3}));
    EXPECT_TRUE(text_ends_of_gguf(json::object()).empty());
}

TEST(GgufVocabulary, WhatIsRefused) {
    const std::string prefix = "tokenizer.ggml.";
    const auto expect_refused = [&](const char* key, json value, const char* about) {
        json values = metadata();
        if (value.is_null())
            values.erase(prefix + key);
        else
            values[prefix + key] = std::move(value);
        try {
            Tokenizer tokenizer(vocabulary_from_gguf(values));
            ADD_FAILURE() << "accepted: " << values;
        } catch (const UserError& error) {
            EXPECT_THAT(error.what(), HasSubstr(about));
        }
    };
    for (const char* key : {"model", "tokens", "merges"}) {
        expect_refused(key, nullptr, "it has no tokenizer.ggml.");
        expect_refused(key, 7, key);
    }
    expect_refused("model", "llama", "of kind \"llama\"");
    expect_refused("pre", "tekken", "by the rule \"tekken\"");
    expect_refused("pre", 1, "tokenizer.ggml.pre");
    expect_refused("tokens", json::array({"a", 1}), "tokenizer.ggml.tokens holds 1, no text");
    expect_refused("token_type", {1, 1}, "9 tokens and 2 token types");
    expect_refused("token_type", {3, 1, 1, 1, 1, 1, 1, 4, 6}, "token type 6");
    expect_refused("token_type", {3, 1, 1, 1, 1, 1, 1, 4, "x"}, "token_type");
    expect_refused("merges", {"ab"}, "merge 0 \"ab\" is no pair");
    expect_refused("merges", {"a b", "a zz"}, "merge 1");
    expect_refused("eos_token_id", 9u, "id 9");
    expect_refused("eos_token_id", -1, "eos_token_id is -1, no token id");
    expect_refused("eot_token_id", "2", "eot_token_id is the text \"2\", no token id");
    expect_refused("eom_token_id", 2.0, "eom_token_id is the decimal number 2.0, no token id");
    expect_refused("eos_token_id", json::array({2, "0"}), "eos_token_id is a list, no token id");
    expect_refused("model", "\x1b[31m", "of kind \"\\x1b[31m\"");
    expect_refused("bos_token_id", std::uint64_t{1} << 40, "bos_token_id");
    expect_refused("bos_token_id", ~std::uint64_t{0}, "bos_token_id");
    EXPECT_THROW(vocabulary_from_gguf(json::object()), UserError);
    EXPECT_THROW(vocabulary_from_gguf(nullptr), UserError);
}

}  // namespace
}  // namespace assay::nn
