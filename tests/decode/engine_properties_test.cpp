// What holds of the engine whatever the weights.
#include <gmock/gmock.h>

#include "suite/base/error.hpp"
#include "tests/decode/toy_engines.hpp"

namespace assay::decode {
namespace {

using nn::TensorType;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Properties : public testing::TestWithParam<TensorType> {
  protected:
    nn::ToyModel model = nn::toy_model(
        [] {
            nn::DecoderConfig config = nn::toy_llama_config();
            config.context = 48;
            config.hidden = 160;
            return config;
        }(),
        11);
    nn::TensorFile file = toy_file(model, GetParam());
    std::vector<int> ids = random_ids(41, model.config.vocabulary, 12);

    std::unique_ptr<Engine> engine(int threads) const {
        EngineOptions options;
        options.threads = threads;
        return std::make_unique<Engine>(file, options);
    }
};

// Bit for bit: every sum has one order.
TEST_P(Properties, PrefillIsStepByStep) {
    const auto whole = engine(2), steps = engine(2), pieces = engine(2);
    const std::vector<float> expected = copy_of(whole->feed(ids));
    std::span<const float> last;
    for (const int& id : ids) last = steps->feed({&id, 1});
    EXPECT_EQ(copy_of(last), expected);
    pieces->feed(std::span(ids).first(7));
    pieces->feed(std::span(ids).subspan(7, 29));
    EXPECT_EQ(copy_of(pieces->feed(std::span(ids).subspan(36))), expected);
}

TEST_P(Properties, FeedChunkGivesTheLogitsOfEveryStep) {
    const auto each = engine(2), steps = engine(2);
    const auto vocabulary = static_cast<std::size_t>(model.config.vocabulary);
    for (const std::size_t count : {3u, 16u, 1u}) {
        const auto some = std::span(ids).subspan(static_cast<std::size_t>(each->position()), count);
        const std::vector<float> all = copy_of(each->feed_chunk(some));
        ASSERT_EQ(all.size(), count * vocabulary);
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_EQ(copy_of(steps->feed(some.subspan(i, 1))),
                      copy_of(std::span(all).subspan(i * vocabulary, vocabulary)));
    }
    EXPECT_THROW(each->feed_chunk(std::span(ids).first(17)), std::invalid_argument);
}

TEST_P(Properties, ThreadsDoNotChangeTheResult) {
    const std::vector<float> expected = copy_of(engine(1)->feed(ids));
    for (const int threads : {2, 3, 7}) EXPECT_EQ(copy_of(engine(threads)->feed(ids)), expected);
}

TEST_P(Properties, ResetForgetsEverything) {
    const auto used = engine(2);
    used->feed(ids);
    used->reset();
    EXPECT_EQ(used->position(), 0);
    const auto some = std::span(ids).subspan(20, 5);
    EXPECT_EQ(copy_of(used->feed(some)), copy_of(engine(2)->feed(some)));
}

INSTANTIATE_TEST_SUITE_P(Types, Properties,
                         testing::Values(TensorType::f32, TensorType::bf16, TensorType::q8_0,
                                         TensorType::q4_0, TensorType::q4_1));

TEST(EngineContext, FullIsAnErrorThatChangesNothing) {
    const nn::ToyModel model = nn::toy_model(nn::toy_llama_config(), 13);
    const nn::TensorFile file = toy_file(model);
    EngineOptions options;
    options.context = 10;
    Engine engine(file, options), other(file, {});
    EXPECT_EQ(engine.context(), 10);
    EXPECT_EQ(other.context(), 24);
    const std::vector<int> ids = random_ids(10, 40, 1);
    engine.feed(std::span(ids).first(8));
    EXPECT_THAT([&] { engine.feed(std::span(ids).first(3)); },
                ThrowsMessage<UserError>(HasSubstr("context of 10 positions is full")));
    EXPECT_EQ(engine.position(), 8);
    EXPECT_EQ(copy_of(engine.feed(std::span(ids).subspan(8))), copy_of(other.feed(ids)));
    EXPECT_EQ(engine.position(), 10);
}

TEST(EngineContext, CannotBeLongerThanTheModels) {
    const nn::TensorFile file = toy_file(nn::toy_model(nn::toy_llama_config(), 13));
    EngineOptions options;
    for (const int context : {25, -1}) {
        options.context = context;
        EXPECT_THROW(Engine(file, options), UserError);
    }
}

TEST(EngineInput, IdsOutsideTheVocabulary) {
    Engine engine(toy_file(nn::toy_model(nn::toy_llama_config(), 14)), {});
    for (const std::vector<int>& ids : {std::vector{1, 40}, std::vector{-1}, std::vector<int>{}})
        EXPECT_THROW(engine.feed(ids), UserError);
    EXPECT_EQ(engine.position(), 0);
}

// Matrices, norms and biases once, one row of each embedding, and what the cache holds.
TEST(EngineBytes, AreWhatAStepReads) {
    for (const bool llama : {true, false}) {
        nn::DecoderConfig config = llama ? nn::toy_llama_config() : nn::toy_gpt2_config();
        for (const auto& [type, bytes_of_32] : {std::pair{TensorType::f32, 128u},
                                                {TensorType::bf16, 64u},
                                                {TensorType::q8_0, 34u},
                                                {TensorType::q4_1, 20u}}) {
            const nn::ToyModel model = nn::toy_model(config, 15);
            std::uint64_t expected = 64 / 32 * bytes_of_32;  // the embedding's row
            if (!llama) expected += 64 * 4;                  // positions: fp32 in memory
            for (const auto& [name, values] : model.parameters)
                if (name != "position_embedding")
                    expected += model.shapes.at(name).size() == 2 ? values.size() / 32 * bytes_of_32
                                                                  : values.size() * 4;
            Engine engine(toy_file(model, type), {});
            EXPECT_EQ(engine.bytes_per_token(), expected);
            engine.feed(random_ids(5, 40, 1));
            EXPECT_EQ(engine.bytes_per_token(),
                      expected + 5u * 2 * 2 * static_cast<unsigned>(config.kv_heads) * 16 * 4);
        }
    }
}

TEST(EngineRandom, RunsInEveryType) {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.width = 128;
    for (const AssayType type :
         {ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1}) {
        Engine engine(config, type, {}, 3), same(config, type, {}, 3), other(config, type, {}, 4);
        const std::vector<int> ids = random_ids(6, config.vocabulary, 1);
        const std::vector<float> logits = copy_of(engine.feed(ids));
        for (const float logit : logits) ASSERT_TRUE(std::isfinite(logit));
        EXPECT_EQ(copy_of(same.feed(ids)), logits);
        EXPECT_NE(copy_of(other.feed(ids)), logits);
    }
    config.width = 144;  // no whole number of blocks
    EXPECT_THROW(Engine(config, ASSAY_Q8_0, {}, 1), UserError);
}

}  // namespace
}  // namespace assay::decode
