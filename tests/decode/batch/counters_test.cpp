// Schedules small enough to be followed by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "suite/base/error.hpp"
#include "tests/decode/batch/random_jobs.hpp"

namespace assay::decode {
namespace {

std::vector<int> counting(int first, int count) {
    std::vector<int> ids;
    for (int i = 0; i < count; ++i) ids.push_back(first + i);
    return ids;
}

BatchJob job(std::vector<int> prompt, int max_tokens, std::int64_t at_step = 0) {
    BatchJob job;
    job.request.prompt = std::move(prompt);
    job.request.max_tokens = max_tokens;
    job.at_step = at_step;
    return job;
}

class Counters : public testing::Test {
  protected:
    Counters() { model.checks = true; }
    BatchRun run(const std::vector<BatchJob>& jobs) {
        BatchRunOptions with = options;
        with.engine = engine;
        with.back_ends = step_by_step(model);
        return run_batch(jobs, with);
    }
    ModelledSettings model{.vocabulary = 1000, .context = 200, .blocks = 100};
    BatchOptions engine;
    BatchRunOptions options;
};

TEST_F(Counters, OneRequest) {
    // 100 prompt tokens in chunks of 64; the second chunk picks; the last token is never fed.
    const BatchRun result = run({job(counting(0, 100), 16)});
    EXPECT_EQ(result.steps, 2 + 15);
    EXPECT_EQ(result.computed_tokens, 100 + 15);
    EXPECT_EQ(result.peak_blocks, 8);  // 115 positions
    EXPECT_EQ(result.answers[0].ids.size(), 16u);
    EXPECT_EQ(result.answers[0].finish, Finish::length);
    EXPECT_EQ(result.held_blocks, 0);
}

TEST_F(Counters, EqualPromptsWaitAndShare) {
    // The first computes its prompt in step 0, the second comes in step 1 with 39 of 40 found: two
    // blocks shared, seven positions of a third copied.
    const BatchRun result = run({job(counting(0, 40), 4), job(counting(0, 40), 4)});
    EXPECT_EQ(result.answers[0].reused, 0);
    EXPECT_EQ(result.answers[1].reused, 39);
    EXPECT_EQ(result.reused_tokens, 39);
    EXPECT_EQ(result.computed_tokens, 43 + 4);
    EXPECT_EQ(result.steps, 5);
    EXPECT_EQ(result.answers[0].ids, result.answers[1].ids);
    engine.prefix = false;
    const BatchRun apart = run({job(counting(0, 40), 4), job(counting(0, 40), 4)});
    EXPECT_EQ(apart.reused_tokens, 0);
    EXPECT_EQ(apart.computed_tokens, 86);
    EXPECT_EQ(apart.steps, 5);  // 80 prompt tokens are two chunks
}

TEST_F(Counters, WhatWasSaidIsReusedButItsLastToken) {
    const BatchRun first = run({job(counting(0, 20), 5)});
    std::vector<int> prompt = counting(0, 20);
    prompt.insert(prompt.end(), first.answers[0].ids.begin(), first.answers[0].ids.end());
    prompt.push_back(999);
    const BatchRun both = run({job(counting(0, 20), 5), job(prompt, 1, 50)});
    EXPECT_EQ(both.answers[1].reused, 24);
    EXPECT_EQ(both.computed_tokens, 24 + 2);
    EXPECT_EQ(both.steps, 6);  // 44 were jumped over
}

TEST_F(Counters, LogProbabilitiesOfThePromptAreComputed) {
    std::vector<BatchJob> jobs{job(counting(0, 40), 1), job(counting(0, 40), 1, 10)};
    jobs[1].request.prompt_log_probabilities = true;
    const BatchRun result = run(jobs);
    EXPECT_EQ(result.reused_tokens, 0);
    EXPECT_EQ(result.computed_tokens, 80);
    EXPECT_EQ(result.answers[1].prompt_log_probabilities.size(), 39u);
    EXPECT_TRUE(result.answers[0].prompt_log_probabilities.empty());
}

TEST_F(Counters, DecodingComesFirstAndPromptsShareAChunk) {
    engine.chunk = 10;
    engine.prefix = false;
    // Steps: A 10, A 5 + B 5, A + B 10, A + B 5 (which picks), B; A ends with its third token.
    const BatchRun result = run({job(counting(0, 15), 3), job(counting(100, 20), 2)});
    EXPECT_EQ(result.steps, 5);
    EXPECT_EQ(result.computed_tokens, 17 + 21);
}

TEST_F(Counters, ContextEndsWhatDoesNotEndItself) {
    model.context = 32;
    for (const int n : {1, 20, 32}) {
        const BatchRun result = run({job(counting(0, n), 1000)});
        EXPECT_EQ(result.answers[0].ids.size(), static_cast<std::size_t>(32 - n + 1));
        EXPECT_EQ(result.answers[0].finish, Finish::context);
        EXPECT_EQ(result.computed_tokens, 32);
    }
    EXPECT_EQ(run({job(counting(0, 30), 3)}).answers[0].finish, Finish::length);  // before context
    EXPECT_THROW(run({job(counting(0, 33), 1)}), UserError);
}

TEST_F(Counters, StopIsTheLastIdAndComesBeforeLength) {
    const std::vector<int> ids = run({job(counting(0, 5), 4)}).answers[0].ids;
    BatchJob stops = job(counting(0, 5), 4);
    stops.request.stop_ids = {ids[3]};
    EXPECT_EQ(run({stops}).answers[0].finish, Finish::stop);
    EXPECT_EQ(run({stops}).answers[0].ids, ids);
    stops.request.stop_ids = {ids[1]};
    EXPECT_EQ(run({stops}).answers[0].ids, std::vector<int>(ids.begin(), ids.begin() + 2));
    stops.request.forced_ids = {7, ids[1], 8};
    EXPECT_EQ(run({stops}).answers[0].ids, (std::vector<int>{7, ids[1], 8}));
    EXPECT_EQ(run({stops}).answers[0].finish, Finish::length);
}

TEST_F(Counters, TheYoungestIsPreemptedAndTakesItsPlaceAgain) {
    // Three blocks each in the end, four in all: at position 16 both want a second one, and A's
    // third at 32 is B's.
    model.blocks = 4;
    engine.prefix = false;
    const std::vector<BatchJob> jobs{job(counting(0, 16), 33), job(counting(100, 16), 33)};
    for (const bool swap : {false, true}) {
        engine.swap = swap;
        const BatchRun result = run(jobs);
        EXPECT_EQ(result.answers[0].preemptions, 0);
        EXPECT_EQ(result.answers[1].preemptions, 1);
        // Both prompts, 16 steps of both; B is out when A feeds position 32 and comes again when
        // A is done, 16 steps later.
        EXPECT_EQ(result.steps, 1 + 32 + 16);
        EXPECT_EQ(result.computed_tokens, 2 * 48 + (swap ? 0 : 32));
        EXPECT_EQ(result.peak_blocks, 4);
    }
}

TEST_F(Counters, CancelledKeepsWhatItHas) {
    std::vector<BatchJob> jobs{job(counting(0, 5), 10), job(counting(50, 5), 10, 3),
                               job(counting(90, 5), 10, 3)};
    jobs[0].cancel_at = 4;
    jobs[1].cancel_at = 3;
    jobs[2].cancel_at = 2;
    const BatchRun result = run(jobs);
    EXPECT_EQ(result.answers[0].ids.size(), 4u);
    EXPECT_EQ(result.steps, 4);
    for (const BatchAnswer& answer : result.answers) EXPECT_EQ(answer.finish, Finish::cancelled);
    EXPECT_TRUE(result.answers[1].ids.empty());
    EXPECT_TRUE(result.answers[2].ids.empty());
}

TEST_F(Counters, MoveAndReloadComputeAgain) {
    const std::vector<BatchJob> jobs{job(counting(0, 20), 10)};
    const BatchRun plain = run(jobs);
    options.move_at = 4;
    const BatchRun moved = run(jobs);
    EXPECT_EQ(moved.steps, 10);
    // 23 tokens were fed before; 24 are known, which are fed in one step again.
    EXPECT_EQ(moved.computed_tokens, 23 + 24 + 5);
    EXPECT_EQ(moved.answers[0].ids, plain.answers[0].ids);
    options.move_cache = true;
    EXPECT_EQ(run(jobs).computed_tokens, plain.computed_tokens);
    options.move_at.reset();
    options.reload_at = 4;
    const BatchRun reloaded = run(jobs);
    EXPECT_EQ(reloaded.computed_tokens, 23 + 24 + 5);
    EXPECT_EQ(reloaded.answers[0].ids, plain.answers[0].ids);
    EXPECT_EQ(reloaded.answers[0].versions, (std::vector<int>{1, 1, 1, 1, 2, 2, 2, 2, 2, 2}));
}

TEST_F(Counters, PriorityThenArrival) {
    engine.max_batch = 1;
    std::vector<BatchJob> jobs{job({1}, 2), job({2}, 2), job({3}, 2)};
    jobs[2].request.priority = 1;
    BatchEngine one(std::make_unique<StepByStep>(model), engine);
    for (const BatchJob& each : jobs) one.submit(each.request);
    StepReport report;
    while (!one.idle()) one.step(report);
    std::vector<RequestId> order;
    for (const EndedRequest& ended : report.ended) order.push_back(ended.request);
    EXPECT_EQ(order, (std::vector<RequestId>{2, 0, 1}));
}

TEST_F(Counters, BlocksThatARequestNeeds) {
    EXPECT_EQ(least_blocks(16, 1, 200), 2);
    EXPECT_EQ(least_blocks(17, 1, 200), 3);
    EXPECT_EQ(least_blocks(1, 49, 200), 4);
    EXPECT_EQ(least_blocks(1, 48, 200), 3);
    EXPECT_EQ(least_blocks(1, 1000000, 32), 2);  // the context ends it
    model.blocks = 3;
    EXPECT_THROW(run({job(counting(0, 33), 1)}), UserError);
    EXPECT_EQ(run({job(counting(0, 32), 17)}).answers[0].ids.size(), 17u);
}

}  // namespace
}  // namespace assay::decode
