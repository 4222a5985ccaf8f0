#include <algorithm>

#include "impls/decode/back_ends.hpp"
#include "impls/model/generation.hpp"
#include "impls/model/tool.hpp"
#include "suite/base/error.hpp"
#include "tests/decode/toy_networks.hpp"
#include "tests/model/model_program.hpp"

namespace assay::model {
namespace {

// The likeliest token each time, by the reference.
std::vector<int> greedy(const nn::ToyModel& model, std::vector<int> ids, int count) {
    const decode::ReferenceDecoder reference(model);
    std::vector<int> chosen;
    for (int i = 0; i < count; ++i) {
        const auto logits = reference.logits(ids).back();
        chosen.push_back(
            static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
        ids.push_back(chosen.back());
    }
    return chosen;
}

decode::BatchEngine engine_of(const nn::TensorFile& file) {
    return {decode::back_ends_of(file, {.blocks = 4})(), {.max_batch = 1, .prefix = false}};
}

class ModelGenerate : public ModelProgram {};

TEST_F(ModelGenerate, GreedyIdsAsTheReference) {
    const std::vector<int> prompt{72, 105, 33}, expected = greedy(model, prompt, 6);
    ASSERT_LT(*std::max_element(expected.begin(), expected.end()), 256);
    std::string text;
    for (const int id : expected) text += static_cast<char>(id);
    for (const char* const weights : {"stored", "f32", "bf16"}) {
        const nlohmann::json result =
            assay_json({"model", "generate", wordless, "--ids", "72,105,33", "--max-tokens", "6",
                        "--weights", weights, "--threads", "2"});
        EXPECT_EQ(keys_of(result),
                  (std::vector<std::string>{"decode_s", "ids", "prefill_s", "prompt_ids", "text"}));
        EXPECT_EQ(result["prompt_ids"], prompt);
        EXPECT_EQ(result["ids"], expected);
        EXPECT_EQ(result["text"], nullptr);  // no tokenizer
        EXPECT_GT(result["prefill_s"].get<double>(), 0);
        EXPECT_GT(result["decode_s"].get<double>(), 0);
    }
    const testing::Printed printed =
        assay({"model", "generate", file, "--prompt", "Hi!", "--max-tokens", "6"});
    EXPECT_EQ(printed.out, text + "\n");
    EXPECT_NE(printed.err.find("prompt  3 tokens"), std::string::npos) << printed.err;
    EXPECT_NE(printed.err.find("% of the"), std::string::npos) << printed.err;
}

TEST_F(ModelGenerate, ChatPutsThePromptIntoTheTemplate) {
    const nlohmann::json result = assay_json(
        {"model", "generate", file, "--chat", "--prompt", "a<|im_end|>", "--max-tokens", "1"});
    const std::vector<int> ids = result["prompt_ids"];
    EXPECT_EQ(ids.front(), turn_start);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), turn_start), 2);
    const std::vector<int> plain = assay_json(
        {"model", "generate", file, "--prompt", "a<|im_end|>", "--max-tokens", "1"})["prompt_ids"];
    EXPECT_EQ(plain.size(), 11u);  // letters, nothing special
}

TEST_F(ModelGenerate, SamplingFollowsTheSeed) {
    const auto ids = [&](const char* seed) {
        return assay_json({"model", "generate", file, "--ids", "1,2,3", "--max-tokens", "20",
                           "--temperature", "3", "--seed", seed})["ids"];
    };
    EXPECT_EQ(ids("1"), ids("1"));
    EXPECT_NE(ids("1"), ids("2"));
}

TEST_F(ModelGenerate, BandwidthIsAnExtraKey) {
    const nlohmann::json bound = assay_json(
        {"model", "generate", file, "--ids", "1", "--max-tokens", "4", "--bandwidth"})["bandwidth"];
    EXPECT_EQ(keys_of(bound), (std::vector<std::string>{"bound_tokens_per_s", "read_bytes_per_s",
                                                        "share", "tokens_per_s"}));
    EXPECT_NEAR(bound["share"].get<double>(),
                bound["tokens_per_s"].get<double>() / bound["bound_tokens_per_s"].get<double>(),
                1e-9);
}

TEST_F(ModelGenerate, Refusals) {
    expect_refused({"generate", file}, "give --prompt TEXT or --ids");
    expect_refused({"generate", "nowhere.gguf", "--ids", "1"}, "no such file");
    expect_refused({"generate", file, "--ids", "1,259"}, "259 is outside the vocabulary of 259");
    expect_refused({"generate", file, "--ids", "1,,2"}, "'' is no token id");
    expect_refused({"generate", file, "--ids", "1,9999999999"}, "'9999999999' is no token id");
    expect_refused({"generate", file, "--prompt", std::string(49, 'a')},
                   "49 tokens, more than the model's context of 48");
    expect_refused({"generate", wordless, "--prompt", "a"}, "without a tokenizer give --ids");
    expect_refused({"generate", file, "--prompt", "a", "--ids", "1"}, "--ids");
    expect_refused({"generate", file, "--ids", "1", "--top-p", "0"}, "top-p");
    expect_refused({"generate", file, "--ids", "1", "--seed", "-1"}, "--seed");
    expect_refused({"generate", file, "--ids", "1", "--weights", "q3"}, "--weights");
}

TEST(Generation, EndsAtEndOfText) {
    const nn::ToyModel model = toy_language_model();
    decode::BatchEngine engine = engine_of(decode::toy_file(model));
    // A prompt whose third new token is none of those before it.
    std::vector<int> prompt{72, 0}, expected;
    do {
        ASSERT_LT(++prompt[1], 256);
        expected = greedy(model, prompt, 3);
    } while (std::count(expected.begin(), expected.end(), expected[2]) > 1);
    nn::Vocabulary vocabulary;
    for (const std::string& token : toy_tokens()) vocabulary.tokens.push_back({token});
    vocabulary.end_of_text = expected[2];
    const nn::Tokenizer tokenizer(vocabulary);

    std::string heard;
    const Generation result =
        generate(engine, &tokenizer, prompt, 10, {}, [&](std::string_view text) { heard += text; });
    EXPECT_EQ(result.ids, std::vector<int>(expected.begin(), expected.begin() + 3));
    EXPECT_EQ(result.text, tokenizer.decode(std::span(expected).first(2)));
    EXPECT_EQ(heard, result.text);
    EXPECT_EQ(result.decode_steps, 2);
    EXPECT_FALSE(result.context_full);
}

TEST(Generation, EndsWhenTheContextIsFull) {
    nn::DecoderConfig config = toy_language_model().config;
    config.context = 5;
    const nn::ToyModel model = nn::toy_model(config, 31);
    decode::BatchEngine engine = engine_of(decode::toy_file(model));
    const Generation result = generate(engine, nullptr, {1, 2, 3}, 10, {});
    EXPECT_EQ(result.ids, greedy(model, {1, 2, 3}, 3));  // the last is chosen, not fed
    EXPECT_TRUE(result.context_full);
    EXPECT_FALSE(generate(engine, nullptr, {1, 2, 3}, 3, {}).context_full);
    EXPECT_THROW(generate(engine, nullptr, {}, 3, {}), UserError);
}

TEST(Generation, BoundIsBandwidthOverBytes) {
    Generation generation;
    EXPECT_EQ(against_bound(generation, 1e9), std::nullopt);
    generation.decode_steps = 20;
    generation.decode_s = 4;
    generation.bytes_per_token = 100'000'000;
    const auto bound = against_bound(generation, 1e9);
    EXPECT_DOUBLE_EQ(bound->tokens_per_s, 5);
    EXPECT_DOUBLE_EQ(bound->bound_tokens_per_s, 10);
    EXPECT_DOUBLE_EQ(bound->share(), 0.5);
}

TEST(Progress, TellsTheTimeToGo) {
    EXPECT_EQ(progress_text(10, 40, "tokens", 7), "10 of 40 tokens (25 %), 21 s to go");
    EXPECT_EQ(progress_text(0, 40, "tokens", 7), "0 of 40 tokens (0 %)");
    EXPECT_EQ(progress_text(40, 40, "tokens", 7), "40 of 40 tokens (100 %)");
}

}  // namespace
}  // namespace assay::model
