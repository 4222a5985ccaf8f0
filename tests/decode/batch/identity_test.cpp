// What a cache belongs to: digests of weights wherever they came from, and what is refused.
#include <gtest/gtest.h>

#include "impls/decode/cpu/back_end.hpp"
#include "impls/decode/weights/weights_origin.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

nn::ToyModel toy(std::uint64_t seed = 1) {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.context = 100;
    return nn::toy_model(config, seed);
}

std::unique_ptr<BackEnd> back_end(const nn::ToyModel& model, const BackEndOptions& options = {}) {
    BackEndOptions with = options;
    with.threads = 1;
    with.blocks = 20;
    return back_ends_of(toy_file(model), with)();
}

BatchRequest random_request(int max_tokens = 20) {
    BatchRequest request;
    request.prompt = random_ids(30, 40, 1);
    request.max_tokens = max_tokens;
    return request;
}

std::vector<MadeToken> tokens_of(BatchEngine& engine, int count) {
    StepReport report;
    for (int i = 0; i < count && !engine.idle(); ++i) engine.step(report);
    return report.tokens;
}

// A path, the bytes of a file, whoever has the rows: equal bytes, equal digests, equal tokens.
TEST(Identity, IsOfTheWeightsWhereverTheyComeFrom) {
    const testing::TemporaryFolder folder;
    const nn::ToyModel model = toy();
    const std::vector<std::byte> bytes = nn::gguf_of(model).bytes();
    nn::write_bytes(folder.path() / "toy.gguf", bytes);
    const nn::TensorFile file = toy_file(model);
    const std::vector<WeightsOrigin> origins{
        (folder.path() / "toy.gguf").string(),
        HeldFile{std::make_shared<const std::vector<std::byte>>(bytes), ""},
        HeldWeights{model.config, file_source(file, model.config, WeightType::stored)}};
    std::vector<std::string> digests;
    for (const WeightsOrigin& origin : origins) {
        const auto weights = load_weights(origin, {});
        digests.push_back(weights->digest());
        BatchEngine engine(cpu_back_end(weights, {.threads = 1, .blocks = 20}), {});
        BatchEngine expected(back_end(model), {});
        engine.submit(random_request());
        expected.submit(random_request());
        const auto tokens = tokens_of(engine, 100), right = tokens_of(expected, 100);
        ASSERT_EQ(tokens.size(), 20u);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            EXPECT_EQ(tokens[i].id, right[i].id);
            EXPECT_EQ(tokens[i].log_probability, right[i].log_probability);
        }
    }
    EXPECT_EQ(digests[0], digests[1]);
    EXPECT_EQ(digests[0], digests[2]);
    EXPECT_THROW(load_weights((folder.path() / "none").string(), {}), UserError);
}

TEST(Identity, DiffersWithAnyWeightTheArithmeticAndTheCache) {
    const std::string identity = back_end(toy())->identity();
    EXPECT_EQ(back_end(toy())->identity(), identity);
    for (const auto& [name, values] : toy().parameters) {
        nn::ToyModel other = toy();
        other.parameters.at(name).back() += 0.5f;
        EXPECT_NE(back_end(other)->identity(), identity) << name;
    }
    EXPECT_NE(back_end(toy(), {.activations = ActivationType::int8})->identity(), identity);
    EXPECT_NE(back_end(toy(), {.kv = KvType::bf16})->identity(), identity);
    EXPECT_NE(back_end(toy(), {.model = {.weights = WeightType::bf16}})->identity(), identity);
}

// A moved cache is believed for what it was computed with, not for how its version is called.
TEST(Identity, OfAMovedCacheIsLookedAt) {
    BatchEngine from(back_end(toy(1)), {}), other(back_end(toy(2)), {}),
        same(back_end(toy(1)), {.version = 9});
    from.submit(random_request());
    tokens_of(from, 6);
    const RequestState state = from.state_of(0, true);
    EXPECT_GT(state.kv_positions, 0);
    EXPECT_THROW(other.resume(state), UserError);
    RequestState tokens = state;
    tokens.forget_cache();
    other.resume(tokens);
    tokens_of(other, 1);
    EXPECT_EQ(other.stats().computed_tokens, 30 + 6);
    same.resume(state);
    tokens_of(same, 1);
    EXPECT_EQ(same.stats().computed_tokens, 1);
}

TEST(Identity, WeightsChangeInPlaceWithoutASecondCache) {
    for (const auto cache : {BatchEngine::Cache::recompute, BatchEngine::Cache::keep}) {
        BatchEngine engine(back_end(toy(1)), {}), fresh(back_end(toy(2)), {});
        const BackEnd* const before = &engine.back_end();
        const std::string identity = before->identity();
        engine.submit(random_request());
        tokens_of(engine, 4);
        engine.prepare(2, load_model(toy_file(toy(2)), {}));
        engine.commit(cache);
        EXPECT_EQ(&engine.back_end(), before);
        EXPECT_NE(engine.back_end().identity(), identity);
        EXPECT_EQ(engine.back_end().identity(), fresh.back_end().identity());
        tokens_of(engine, 100);
        // What comes now is of the new weights alone.
        engine.submit(random_request());
        fresh.submit(random_request());
        const auto now = tokens_of(engine, 100), expected = tokens_of(fresh, 100);
        ASSERT_EQ(now.size(), expected.size());
        for (std::size_t i = 0; i < now.size(); ++i)
            EXPECT_EQ(now[i].log_probability, expected[i].log_probability);
    }
    BatchEngine engine(back_end(toy(1)), {});
    nn::DecoderConfig shape = toy().config;
    shape.hidden += 32;
    EXPECT_THROW(engine.prepare(2, load_model(toy_file(nn::toy_model(shape)), {})), UserError);
    EXPECT_THROW(engine.prepare(2, load_model(toy_file(toy(2)), {.weights = WeightType::bf16})),
                 UserError);
}

}  // namespace
}  // namespace assay::decode
