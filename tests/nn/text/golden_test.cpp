// Against Hugging Face's tokenizers: with a vocabulary trained by it, and with that of
// SmolLM2-135M-Instruct (GGUF), whose file ASSAY_TEST_MODEL names; skipped without it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/chat.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/text/golden_files.hpp"
#include "tests/nn/text/small_vocabulary.hpp"

namespace assay::nn {
namespace {

using namespace testing;

TEST(SmallGolden, Gpt2) {
    const Tokenizer tokenizer(vocabulary_from_tokenizer_json(golden_json("small_tokenizer.json")));
    EXPECT_EQ(tokenizer.bytes_without_token(), "");
    expect_golden_ids(tokenizer, "small_gpt2_ids.json");
}

TEST(SmallGolden, Smollm) {
    auto json = golden_json("small_tokenizer.json");
    const nlohmann::json digits{{"type", "Digits"}, {"individual_digits", true}};
    json["pre_tokenizer"] = {{"type", "Sequence"},
                             {"pretokenizers", {digits, json["pre_tokenizer"]}}};
    expect_golden_ids(Tokenizer(vocabulary_from_tokenizer_json(json)), "small_smollm_ids.json");
}

TEST(SmallGolden, Llama3) {
    const auto json = golden_json("small_llama3_tokenizer.json");
    const Vocabulary vocabulary = vocabulary_from_tokenizer_json(json);
    EXPECT_EQ(vocabulary.words, WordRule::llama3);
    EXPECT_TRUE(vocabulary.words_before_merges);
    expect_golden_ids(Tokenizer(vocabulary), "small_llama3_ids.json");
}

TEST(SmallGolden, Qwen2) {
    auto json = golden_json("small_tokenizer.json");
    json["normalizer"] = {{"type", "NFC"}};
    json["pre_tokenizer"] = golden_json("small_llama3_tokenizer.json")["pre_tokenizer"];
    auto& pattern = json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"];
    std::string one_number = pattern;
    one_number.erase(one_number.find("{1,3}"), 5);
    pattern = one_number;
    const Vocabulary vocabulary = vocabulary_from_tokenizer_json(json);
    EXPECT_EQ(vocabulary.words, WordRule::qwen2);
    EXPECT_TRUE(vocabulary.composed);
    EXPECT_FALSE(vocabulary.words_before_merges);
    expect_golden_ids(Tokenizer(vocabulary), "small_qwen2_ids.json");
}

using Ids = std::vector<int>;

class SmolLM2 : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* path = std::getenv("ASSAY_TEST_MODEL");
        if (!path) GTEST_SKIP() << "needs ASSAY_TEST_MODEL, the GGUF file of SmolLM2-135M-Instruct";
        file = std::make_unique<TensorFile>(path);
        tokenizer = std::make_unique<Tokenizer>(Tokenizer::of(*file));
    }
    std::unique_ptr<TensorFile> file;
    std::unique_ptr<Tokenizer> tokenizer;
};

TEST_F(SmolLM2, Goldens) { expect_golden_ids(*tokenizer, "smollm2_ids.json"); }

TEST_F(SmolLM2, KnownTexts) {
    EXPECT_EQ(tokenizer->encode("The capital of France is"), (Ids{504, 3575, 282, 4649, 314}));
    EXPECT_EQ(tokenizer->decode(Ids{7042, 30, 198, 198, 504, 3575, 282, 260, 1797, 1918, 314, 1315,
                                    2863, 4206, 30}),
              " Paris.\n\nThe capital of the United States is New York City.");
}

TEST_F(SmolLM2, WhatItKnowsOfTokens) {
    EXPECT_EQ(tokenizer->size(), 49152);
    EXPECT_EQ(tokenizer->start_of_text(), 1);
    EXPECT_EQ(tokenizer->end_of_text(), 2);
    EXPECT_EQ(tokenizer->id_of("<|endoftext|>"), 0);
    EXPECT_EQ(tokenizer->id_of(" Paris"), 7042);
    EXPECT_EQ(tokenizer->bytes_of(7042), 6u);
    EXPECT_EQ(tokenizer->bytes_of(0), 0u);
    EXPECT_EQ(tokenizer->text_ends(), (Ids{0, 2}));
    EXPECT_EQ(
        tokenizer->bytes_without_token(),
        "\x04\x06\x13\x14\x16\x1d\xc0\xc1\xf1\xf2\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff");
}

TEST_F(SmolLM2, AnyBytesButThoseWithoutToken) {
    const std::string missing = tokenizer->bytes_without_token();
    std::mt19937 engine(5);
    for (int i = 0; i < 200; ++i) {
        const std::string text = random_bytes(engine, engine() % 200, "the and \n'12<|im_end|>");
        std::string encodable;
        for (const char byte : text)
            if (missing.find(byte) == std::string::npos) encodable += byte;
        if (encodable != text) EXPECT_THROW(tokenizer->encode(text), UserError);
        const Ids ids = tokenizer->encode(encodable);
        ASSERT_EQ(tokenizer->decode(ids), encodable);
        std::size_t bytes = 0;
        for (const int id : ids) bytes += tokenizer->bytes_of(id);
        ASSERT_EQ(bytes, encodable.size());
    }
}

TEST_F(SmolLM2, ChatTemplate) {
    const auto golden = golden_json("chat_prompts.json").front();  // rendered with this file's
    const auto system = chat_default_system(*file);
    ASSERT_EQ(system, "You are a helpful AI assistant named SmolLM, trained by Hugging Face");
    const std::vector<ChatMessage> messages{{"user", "What is the capital of France?"}};
    const std::string prompt = golden["prompts"][1]["prompt"];
    EXPECT_EQ(chat_prompt(messages, *system, *tokenizer), tokenizer->encode(prompt, true));
}

}  // namespace
}  // namespace assay::nn
