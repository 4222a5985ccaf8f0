// What an engine holds at most, and what becomes of requests that can never run.
#include <gtest/gtest.h>

#include <random>

#include "impls/decode/schedule/cached_prefixes.hpp"
#include "suite/base/error.hpp"
#include "tests/decode/batch/random_jobs.hpp"

namespace assay::decode {
namespace {

BatchRequest asked_for(int first, int count, int max_tokens, bool keep = false) {
    BatchRequest request;
    for (int i = 0; i < count; ++i) request.prompt.push_back(first + i);
    request.max_tokens = max_tokens;
    if (keep) request.links = Links{.keep = true};
    return request;
}

BatchEngine engine_of(int blocks, const BatchOptions& options = {}) {
    return {std::make_unique<ModelledBackEnd>(ModelledSettings{
                .vocabulary = 900, .context = 300, .blocks = blocks, .checks = true}),
            options};
}

/// To the end, or to so many steps that it never comes.
StepReport all_steps(BatchEngine& engine) {
    StepReport report;
    for (int i = 0; i < 1000 && !engine.idle(); ++i) engine.step(report);
    EXPECT_TRUE(engine.idle());
    return report;
}

// Ten blocks, six of them kept: a request of eight would wait for ever.
TEST(Bounds, WhatIsKeptLeavesNoRoomAndTheNextRequestSaysSo) {
    BatchEngine engine = engine_of(10);
    const RequestId kept = engine.submit(asked_for(0, 90, 3, true));
    all_steps(engine);
    EXPECT_EQ(engine.stats().held_blocks, 6);
    const RequestId large = engine.submit(asked_for(200, 120, 5));
    const RequestId small = engine.submit(asked_for(500, 20, 5));
    StepReport report = all_steps(engine);
    ASSERT_EQ(report.ended.size(), 2u);
    EXPECT_EQ(report.ended[0].request, large);
    EXPECT_EQ(report.ended[0].why, Finish::no_blocks);
    EXPECT_EQ(report.ended[1].request, small);  // what fits is served
    EXPECT_EQ(report.ended[1].why, Finish::length);
    engine.release(kept);
    engine.submit(asked_for(200, 120, 5));
    EXPECT_EQ(all_steps(engine).ended.at(0).why, Finish::length);
    engine.empty_cache();
    EXPECT_EQ(engine.stats().held_blocks, 0);
}

// It gets in and grows until nothing is left.
TEST(Bounds, ARequestThatOutgrowsWhatIsLeftEndsWithItsTokens) {
    for (const bool swap : {false, true}) {
        BatchEngine engine = engine_of(10, {.swap = swap}), alone = engine_of(20);
        engine.submit(asked_for(0, 90, 3, true));
        all_steps(engine);
        const BatchRequest growing = asked_for(200, 30, 100);
        const RequestId id = engine.submit(growing);
        const StepReport report = all_steps(engine);
        ASSERT_EQ(report.ended.size(), 1u);
        EXPECT_EQ(report.ended[0].why, Finish::no_blocks);
        alone.submit(growing);
        const StepReport expected = all_steps(alone);
        EXPECT_GT(report.tokens.size(), 10u);
        EXPECT_LT(report.tokens.size(), 100u);
        for (std::size_t i = 0; i < report.tokens.size(); ++i) {
            EXPECT_EQ(report.tokens[i].request, id);
            EXPECT_EQ(report.tokens[i].id, expected.tokens[i].id);
        }
    }
}

// One that runs may give back what another waits for.
TEST(Bounds, NoneIsGivenUpWhileAnotherRuns) {
    BatchEngine engine = engine_of(10);
    engine.submit(asked_for(0, 40, 3, true));
    all_steps(engine);
    engine.submit(asked_for(200, 60, 10));
    engine.submit(asked_for(400, 80, 10));  // waits for the blocks of the one before
    const StepReport report = all_steps(engine);
    ASSERT_EQ(report.ended.size(), 2u);
    for (const EndedRequest& ended : report.ended) EXPECT_EQ(ended.why, Finish::length);
}

TEST(Bounds, AnEngineTakesSoManyRequestsAndSaysSo) {
    BatchEngine engine = engine_of(40, {.max_batch = 1, .max_requests = 3});
    for (int i = 0; i < 3; ++i) engine.submit(asked_for(100 * i, 10, 2));
    EXPECT_THROW(engine.submit(asked_for(1, 10, 2)), UserError);
    StepReport report;
    engine.step(report);
    EXPECT_EQ(report.waiting, 2);
    all_steps(engine);
    engine.submit(asked_for(1, 10, 2));
    EXPECT_THROW(engine_of(4, {.max_requests = 0}), UserError);
}

// Against a search through all that was sent.
TEST(CachedPrefixes, AreThoseOfAllSequences) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        Dice dice(seed);
        CachedPrefixes cached(200), small(6);
        std::vector<std::vector<int>> sent;
        for (int n = 0; n < 40; ++n) {
            std::vector<int> tokens;
            if (!sent.empty() && !dice.one_in(3)) {
                const auto& from =
                    sent[static_cast<std::size_t>(dice.below(static_cast<int>(sent.size())))];
                tokens.assign(from.begin(),
                              from.begin() + dice.below(static_cast<int>(from.size()) + 1));
            }
            for (int i = dice.between(1, 40); i > 0; --i) tokens.push_back(dice.below(3));
            tokens.resize(std::min<std::size_t>(tokens.size(), 70));
            int longest = 0;
            for (const auto& each : sent)
                longest =
                    std::max(longest, static_cast<int>(std::mismatch(tokens.begin(), tokens.end(),
                                                                     each.begin(), each.end())
                                                           .first -
                                                       tokens.begin()));
            EXPECT_EQ(cached.match(tokens), longest) << seed;
            EXPECT_LE(small.match(tokens), longest) << seed;
            cached.add(tokens);
            small.add(tokens);
            sent.push_back(tokens);
            EXPECT_LE(small.held_blocks(), 6);
            EXPECT_EQ(small.match(tokens), static_cast<int>(tokens.size()));  // the last is there
        }
        cached.clear();
        EXPECT_EQ(cached.held_blocks(), 0);
    }
}

TEST(CachedPrefixes, OfASequenceLargerThanTheCacheWhatFitsIsKept) {
    CachedPrefixes cached(2);
    std::vector<int> tokens(100);
    for (int i = 0; i < 100; ++i) tokens[static_cast<std::size_t>(i)] = i;
    cached.add(tokens);
    EXPECT_EQ(cached.match(tokens), 32);
}

}  // namespace
}  // namespace assay::decode
