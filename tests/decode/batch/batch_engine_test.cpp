// The engine's interface: weights that change, requests that move, what fails alone.
#include "impls/decode/batch_engine.hpp"

#include <gtest/gtest.h>

#include "suite/base/error.hpp"
#include "tests/decode/batch/random_jobs.hpp"

namespace assay::decode {
namespace {

ModelledSettings model(std::uint64_t weights = 1) {
    return {.vocabulary = 500, .context = 300, .blocks = 40, .weights = weights, .checks = true};
}

BatchRequest request(int first, int count, int max_tokens = 20) {
    BatchRequest request;
    for (int i = 0; i < count; ++i) request.prompt.push_back(first + i);
    request.max_tokens = max_tokens;
    return request;
}

StepReport steps(BatchEngine& engine, int count) {
    StepReport report;
    for (int i = 0; i < count && !engine.idle(); ++i) engine.step(report);
    return report;
}

std::vector<int> ids_of(const StepReport& report, RequestId request) {
    std::vector<int> ids;
    for (const MadeToken& token : report.tokens)
        if (token.request == request) ids.push_back(token.id);
    return ids;
}

TEST(BatchEngine, TokensAreOfTheWeightsThatTheySayTheyAreOf) {
    for (const auto cache : {BatchEngine::Cache::recompute, BatchEngine::Cache::keep}) {
        const bool keep = cache == BatchEngine::Cache::keep;
        BatchEngine engine(std::make_unique<ModelledBackEnd>(model(1)), {});
        const BatchRequest asked = request(0, 20, 12);
        engine.submit(asked);
        StepReport report = steps(engine, 5);
        engine.prepare(7, std::make_shared<ModelledWeights>(2));
        engine.step(report);  // prepared is not committed
        engine.commit(cache);
        while (!engine.idle()) engine.step(report);
        std::vector<int> tokens = asked.prompt;
        ASSERT_EQ(report.tokens.size(), 12u);
        for (std::size_t i = 0; i < report.tokens.size(); ++i) {
            const bool after = i >= 6;
            EXPECT_EQ(report.tokens[i].version, after ? 7 : 1);
            // Fed under the old weights were, where it is kept, all but the last at the commit.
            std::vector<std::uint64_t> fed_with(tokens.size(), after ? 2 : 1);
            if (after && keep) std::fill_n(fed_with.begin(), 25, 1);
            const ModelledToken expected = modelled_token(tokens, fed_with, {}, 500);
            EXPECT_EQ(report.tokens[i].id, expected.id) << i;
            tokens.push_back(report.tokens[i].id);
        }
        EXPECT_EQ(engine.version(), 7);
        // What was made of both is nobody's prefix.
        const RequestId next = engine.submit(request(0, 20, 1));
        report.clear();
        engine.step(report);
        ASSERT_EQ(report.ended.size(), 1u);
        EXPECT_EQ(report.ended[0].request, next);
        EXPECT_EQ(report.ended[0].reused, keep ? 0 : 19);
        EXPECT_EQ(report.tokens[0].id,
                  modelled_token(asked.prompt, std::vector<std::uint64_t>(20, 2), {}, 500).id);
    }
}

TEST(BatchEngine, WeightsOfAnotherShapeOrAnOlderVersionAreRefused) {
    BatchEngine engine(std::make_unique<ModelledBackEnd>(model()), {.model = "m", .version = 3});
    EXPECT_THROW(engine.prepare(3, std::make_shared<ModelledWeights>(2)), UserError);
    struct Other final : ModelWeights {
        std::string digest() const override { return "other"; }
    };
    EXPECT_THROW(engine.prepare(4, std::make_shared<Other>()), UserError);
    EXPECT_THROW(engine.commit(BatchEngine::Cache::keep), std::logic_error);
}

TEST(BatchEngine, NotANumberEndsItsRequestAlone) {
    BatchEngine healthy(std::make_unique<StepByStep>(model()), {});
    auto owned = std::make_unique<StepByStep>(model());
    StepByStep& back_end = *owned;
    BatchEngine engine(std::move(owned), {});
    for (BatchEngine* const each : {&healthy, &engine})
        for (int i = 0; i < 3; ++i) each->submit(request(100 * i, 20));
    StepReport report = steps(engine, 4);
    back_end.model().fail_next(1);
    while (!engine.idle()) engine.step(report);
    const StepReport expected = steps(healthy, 100);
    EXPECT_EQ(ids_of(report, 0), ids_of(expected, 0));
    EXPECT_EQ(ids_of(report, 2), ids_of(expected, 2));
    EXPECT_EQ(ids_of(report, 1).size(), 4u);
    ASSERT_EQ(report.ended.size(), 3u);
    EXPECT_EQ(report.ended[0].request, 1);
    EXPECT_EQ(report.ended[0].why, Finish::failed);
    // Nothing that it computed is found again.
    engine.submit(request(100, 20, 1));
    report.clear();
    engine.step(report);
    EXPECT_EQ(report.ended.at(0).reused, 0);
    engine.empty_cache();
    EXPECT_EQ(engine.stats().held_blocks, 0);
}

TEST(BatchEngine, MaskAllowsOnlyItsTokens) {
    BatchEngine engine(std::make_unique<ModelledBackEnd>(model()), {});
    BatchRequest masked = request(0, 5, 40);
    masked.allowed.assign(8, 0);
    masked.allowed[3] = 0b1010;  // 193 and 195
    engine.submit(masked);
    std::set<int> seen;
    for (const int id : ids_of(steps(engine, 100), 0)) seen.insert(id);
    EXPECT_EQ(seen, (std::set<int>{193, 195}));
    masked.allowed[3] = 0;
    masked.allowed[7] = ~std::uint64_t{0};  // 448 to 499, and what is no id
    engine.submit(masked);
    for (const MadeToken& token : steps(engine, 100).tokens) {
        EXPECT_GE(token.id, 448);
        EXPECT_LT(token.id, 500);
    }
    masked.allowed[7] = 0;
    EXPECT_THROW(engine.submit(masked), UserError);
    masked.allowed.pop_back();
    EXPECT_THROW(engine.submit(masked), UserError);
}

TEST(BatchEngine, TheCacheIsEmptiedUnderRequestsThatRun) {
    BatchEngine engine(std::make_unique<ModelledBackEnd>(model()), {});
    engine.submit(request(0, 37, 30));
    engine.submit(request(0, 40, 30));
    steps(engine, 5);
    engine.empty_cache();
    EXPECT_GT(engine.stats().held_blocks, 0);
    steps(engine, 100);
    engine.submit(request(0, 37, 1));
    EXPECT_EQ(steps(engine, 1).ended.at(0).reused, 36);
    engine.empty_cache();
    EXPECT_EQ(engine.stats().held_blocks, 0);
}

TEST(BatchEngine, StatesGoOnElsewhereAndTellDamage) {
    BatchOptions options{.model = "m"};
    BatchEngine from(std::make_unique<ModelledBackEnd>(model()), options);
    BatchEngine alone(std::make_unique<ModelledBackEnd>(model()), options);
    BatchRequest asked = request(0, 37, 30);
    asked.sampling = {.temperature = 1, .top_k = 0, .top_p = 1, .seed = 9};
    from.submit(asked);
    alone.submit(asked);
    const std::vector<int> expected = ids_of(steps(alone, 100), 0);
    const std::vector<int> begun = ids_of(steps(from, 11), 0);
    for (const bool with_cache : {false, true}) {
        const std::vector<std::byte> bytes = to_bytes(from.state_of(0, with_cache));
        BatchEngine to(std::make_unique<ModelledBackEnd>(model()), options);
        const RequestId there = to.resume(request_state_from(bytes));
        std::vector<int> ids = begun;
        const StepReport report = steps(to, 100);
        for (const int id : ids_of(report, there)) ids.push_back(id);
        EXPECT_EQ(ids, expected);
        EXPECT_EQ(to.stats().computed_tokens, with_cache ? 19 : 37 + 11 + 18);
        // Any bit.
        for (std::size_t at = 0; at < bytes.size(); at += 7) {
            std::vector<std::byte> damaged = bytes;
            damaged[at] ^= std::byte{0x10};
            EXPECT_THROW(request_state_from(damaged), UserError) << at;
        }
        EXPECT_THROW(request_state_from(std::span(bytes).first(bytes.size() - 1)), UserError);
        BatchEngine other(std::make_unique<ModelledBackEnd>(model()), {.model = "another"});
        EXPECT_THROW(other.resume(request_state_from(bytes)), UserError);
    }
    // Keys and values of other weights are refused, whatever their version is called.
    BatchEngine newer(std::make_unique<ModelledBackEnd>(model(2)), {.model = "m", .version = 1});
    RequestState moved = from.state_of(0, true);
    EXPECT_THROW(newer.resume(moved), UserError);
    moved.forget_cache();
    newer.resume(moved);
    steps(newer, 1);
    EXPECT_EQ(newer.stats().computed_tokens, 48);
    RequestState wrong = from.state_of(0);
    wrong.versions.pop_back();
    EXPECT_THROW(newer.resume(wrong), UserError);
    wrong = from.state_of(0, true);
    wrong.request.prompt_log_probabilities = true;  // none of which are there
    EXPECT_THROW(newer.resume(wrong), UserError);
    wrong = from.state_of(0);
    wrong.ids[0] = 500;
    EXPECT_THROW(newer.resume(wrong), UserError);
}

TEST(BatchEngine, StatsTellThroughputByBatch) {
    ModelledSettings settings = model();
    settings.cost = {.fixed_s = 0.5, .weights_s = 1, .token_s = 0.25, .position_s = 0};
    BatchEngine engine(std::make_unique<ModelledBackEnd>(settings), {.max_batch = 2});
    for (int i = 0; i < 3; ++i) engine.submit(request(100 * i, 4, 2));
    StepReport report;
    engine.step(report);
    EXPECT_EQ(engine.stats().running, 2);
    EXPECT_EQ(engine.stats().waiting, 1);
    EXPECT_EQ(engine.stats().held_blocks, 2);
    EXPECT_EQ(engine.stats().free_blocks, 38);
    while (!engine.idle()) engine.step(report);
    const auto by_batch = engine.stats().by_batch;
    ASSERT_EQ(by_batch.size(), 3u);
    EXPECT_EQ(by_batch[2].steps, 2);
    EXPECT_EQ(by_batch[2].tokens, 4);
    EXPECT_DOUBLE_EQ(by_batch[2].seconds, (0.5 + 2) + (0.5 + 1));
    EXPECT_EQ(by_batch[1].steps, 2);
    EXPECT_EQ(engine.stats().free_blocks, 40);
    EXPECT_EQ(engine.stats().held_blocks, 3);  // of the cache
}

}  // namespace
}  // namespace assay::decode
