// Against Hugging Face's tokenizers, with a vocabulary trained by it.
#include <gtest/gtest.h>

#include "impls/nn/text/json_vocabulary.hpp"
#include "tests/nn_text/golden_files.hpp"

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

}  // namespace
}  // namespace assay::nn
