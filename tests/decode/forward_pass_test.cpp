// What holds of the forward pass whatever the weights.
#include "suite/base/error.hpp"
#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

using nn::TensorType;

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

    std::unique_ptr<LoneSequence> sequence(int threads) const {
        return std::make_unique<LoneSequence>(file, ModelOptions{}, threads);
    }
};

// Bit for bit: every sum has one order.
TEST_P(Properties, PrefillIsStepByStep) {
    const auto whole = sequence(2), steps = sequence(2), pieces = sequence(2);
    const std::vector<float> expected = copy_of(whole->feed(ids));
    std::span<const float> last;
    for (const int& id : ids) last = steps->feed({&id, 1});
    EXPECT_EQ(copy_of(last), expected);
    pieces->feed(std::span(ids).first(7));
    pieces->feed(std::span(ids).subspan(7, 29));
    EXPECT_EQ(copy_of(pieces->feed(std::span(ids).subspan(36))), expected);
}

TEST_P(Properties, APassGivesTheLogitsOfEveryStep) {
    const auto each = sequence(2), steps = sequence(2);
    const auto vocabulary = static_cast<std::size_t>(model.config.vocabulary);
    for (const std::size_t count : {3u, 16u, 1u}) {
        const auto some = std::span(ids).subspan(static_cast<std::size_t>(each->position()), count);
        const std::vector<float> all = each->feed_each(some);
        ASSERT_EQ(all.size(), count * vocabulary);
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_EQ(copy_of(steps->feed(some.subspan(i, 1))),
                      copy_of(std::span(all).subspan(i * vocabulary, vocabulary)));
    }
}

TEST_P(Properties, ThreadsDoNotChangeTheResult) {
    const std::vector<float> expected = copy_of(sequence(1)->feed(ids));
    for (const int threads : {2, 3, 7}) EXPECT_EQ(copy_of(sequence(threads)->feed(ids)), expected);
}

TEST_P(Properties, ResetForgetsEverything) {
    const auto used = sequence(2);
    used->feed(ids);
    used->reset();
    EXPECT_EQ(used->position(), 0);
    const auto some = std::span(ids).subspan(20, 5);
    EXPECT_EQ(copy_of(used->feed(some)), copy_of(sequence(2)->feed(some)));
}

INSTANTIATE_TEST_SUITE_P(Types, Properties,
                         testing::Values(TensorType::f32, TensorType::bf16, TensorType::q8_0,
                                         TensorType::q4_0, TensorType::q4_1));

// Matrices, norms and biases once, one row of each embedding, and what the cache holds.
TEST(PassBytes, AreWhatAStepReads) {
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
            LoneSequence sequence(toy_file(model, type));
            const std::uint64_t position = 2u * 2 * static_cast<unsigned>(config.kv_heads) * 16 * 4;
            sequence.feed(random_ids(1, 40, 1));
            EXPECT_EQ(sequence.bytes(), expected + position);
            sequence.feed(random_ids(1, 40, 1));
            EXPECT_EQ(sequence.bytes(), expected + 2 * position);
        }
    }
}

TEST(RandomWeights, RunInEveryType) {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.width = 128;
    for (const AssayType type :
         {ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1}) {
        const auto random = [&](std::uint64_t seed) {
            return LoneSequence(load_model(*random_source(type, seed), config));
        };
        LoneSequence sequence = random(3), same = random(3), other = random(4);
        const std::vector<int> ids = random_ids(6, config.vocabulary, 1);
        const std::vector<float> logits = copy_of(sequence.feed(ids));
        for (const float logit : logits) ASSERT_TRUE(std::isfinite(logit));
        EXPECT_EQ(copy_of(same.feed(ids)), logits);
        EXPECT_NE(copy_of(other.feed(ids)), logits);
    }
    config.width = 144;  // no whole number of blocks
    EXPECT_THROW(load_model(*random_source(ASSAY_Q8_0, 1), config), UserError);
}

}  // namespace
}  // namespace assay::decode
