// Random schedules against the naive engine, and against themselves run in other ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/decode/batch/naive_engine.hpp"
#include "tests/decode/batch/random_jobs.hpp"

namespace assay::decode {
namespace {

NaiveSettings naive_settings(const RandomSchedule& schedule) {
    return {.blocks = schedule.model.blocks,
            .context = schedule.model.context,
            .vocabulary = schedule.model.vocabulary,
            .max_batch = schedule.engine.max_batch,
            .chunk = schedule.engine.chunk,
            .prefix = schedule.engine.prefix,
            .swap = schedule.engine.swap,
            .reload_at = {}};
}

void expect_same_tokens(const BatchAnswer& a, const BatchAnswer& b) {
    EXPECT_EQ(a.ids, b.ids);
    EXPECT_EQ(a.log_probabilities, b.log_probabilities);
    EXPECT_EQ(a.sampled_log_probabilities, b.sampled_log_probabilities);
    EXPECT_EQ(a.finish, b.finish);
}

void expect_same(const BatchRun& ours, const BatchRun& naive) {
    for (std::size_t i = 0; i < naive.answers.size(); ++i) {
        SCOPED_TRACE("request " + std::to_string(i));
        expect_same_tokens(ours.answers[i], naive.answers[i]);
        EXPECT_EQ(ours.answers[i].versions, naive.answers[i].versions);
        EXPECT_EQ(ours.answers[i].reused, naive.answers[i].reused);
        EXPECT_EQ(ours.answers[i].preemptions, naive.answers[i].preemptions);
    }
    EXPECT_EQ(ours.steps, naive.steps);
    EXPECT_EQ(ours.computed_tokens, naive.computed_tokens);
    EXPECT_EQ(ours.reused_tokens, naive.reused_tokens);
    EXPECT_EQ(ours.preemptions, naive.preemptions);
    EXPECT_EQ(ours.peak_blocks, naive.peak_blocks);
    EXPECT_EQ(ours.held_blocks, 0);
}

TEST(Schedules, AsTheNaiveEngine) {
    long preemptions = 0, reused = 0, cancelled = 0, stopped = 0;
    for (std::uint64_t seed = 1; seed <= 3000 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomSchedule schedule = random_schedule(seed);
        NaiveSettings settings = naive_settings(schedule);
        BatchRunOptions options = run_options(schedule, Stepping::one_by_one);
        if (seed % 5 == 0) options.reload_at = settings.reload_at = static_cast<int>(seed) % 40;
        const BatchRun naive = NaiveEngine(schedule.jobs, settings).run();
        expect_same(run_batch(schedule.jobs, options), naive);
        preemptions += naive.preemptions;
        reused += naive.reused_tokens;
        for (const BatchAnswer& answer : naive.answers) {
            cancelled += answer.finish == Finish::cancelled;
            stopped += answer.finish == Finish::stop;
        }
    }
    // What is compared does happen.
    EXPECT_GT(preemptions, 500);
    EXPECT_GT(reused, 10000);
    EXPECT_GT(cancelled, 500);
    EXPECT_GT(stopped, 500);
}

TEST(Schedules, StepsMadeAheadAreTheSameSteps) {
    for (std::uint64_t seed = 1; seed <= 600 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomSchedule schedule = random_schedule(seed);
        const BatchRun one = run_batch(schedule.jobs, run_options(schedule, Stepping::one_by_one));
        const BatchRun ahead = run_batch(schedule.jobs, run_options(schedule, Stepping::ahead));
        for (std::size_t i = 0; i < one.answers.size(); ++i)
            expect_same_tokens(ahead.answers[i], one.answers[i]);
        EXPECT_EQ(ahead.steps, one.steps);
        EXPECT_EQ(ahead.step_s, one.step_s);
        EXPECT_EQ(ahead.held_blocks, 0);
    }
}

TEST(Schedules, TextsOfTokensEndRequestsAsStopIdsDo) {
    int stopped = 0;
    for (std::uint64_t seed = 1; seed <= 600 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomSchedule schedule = random_schedule(seed);
        RandomSchedule heard = schedule;
        for (BatchJob& job : heard.jobs)
            for (const int id : std::exchange(job.request.stop_ids, {}))
                job.request.stops.push_back('<' + std::to_string(id) + '>');
        BatchRunOptions options = run_options(schedule, Stepping::ahead);
        options.text_of = [](int id) { return '<' + std::to_string(id) + '>'; };
        if (seed % 3 == 0) options.move_at = static_cast<int>(seed) % 40;
        if (seed % 5 == 0) options.reload_at = static_cast<int>(seed) % 40;
        const BatchRun by_ids = run_batch(schedule.jobs, options);
        const BatchRun by_ears = run_batch(heard.jobs, options);
        for (std::size_t i = 0; i < by_ids.answers.size(); ++i) {
            expect_same_tokens(by_ears.answers[i], by_ids.answers[i]);
            stopped += by_ids.answers[i].finish == Finish::stop;
        }
        EXPECT_EQ(by_ears.held_blocks, 0);
    }
    EXPECT_GT(stopped, 100);
}

// Each alone, in an engine with room for everything.
TEST(Schedules, SameTokensInAnyBatchChunkOrderMoveAndReload) {
    for (std::uint64_t seed = 1; seed <= 600 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomSchedule schedule = random_schedule(seed);
        for (BatchJob& job : schedule.jobs) job.cancel_at.reset();
        Dice dice(seed);
        BatchRunOptions options = run_options(schedule, Stepping::ahead);
        if (dice.one_in(2)) options.move_at = dice.below(60);
        options.move_cache = dice.one_in(2);
        if (dice.one_in(2)) options.reload_at = dice.below(60);
        const BatchRun together = run_batch(schedule.jobs, options);
        EXPECT_EQ(together.held_blocks, 0);
        RandomSchedule alone = schedule;
        alone.model.blocks = 40;
        alone.engine = {.max_batch = 1, .chunk = 1000, .prefix = false, .model = {}};
        for (std::size_t i = 0; i < schedule.jobs.size(); ++i) {
            SCOPED_TRACE("request " + std::to_string(i));
            const BatchRun one =
                run_batch({&schedule.jobs[i], 1}, run_options(alone, Stepping::one_by_one));
            expect_same_tokens(together.answers[i], one.answers[0]);
            EXPECT_EQ(together.answers[i].prompt_log_probabilities,
                      one.answers[0].prompt_log_probabilities);
        }
    }
}

// Events as they were, with what they point at.
struct Told {
    std::vector<int> tokens, stops, picked;
    std::vector<char> failed;
    Event event;
};

TEST(Schedules, ReplayedEventsLeadToTheSameActions) {
    for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomSchedule schedule = random_schedule(seed);
        const ScheduleSettings settings{.blocks = schedule.model.blocks,
                                        .context = schedule.model.context,
                                        .max_batch = schedule.engine.max_batch,
                                        .chunk = schedule.engine.chunk,
                                        .prefix = schedule.engine.prefix,
                                        .swap = schedule.engine.swap};
        Dice dice(seed);
        Scheduler scheduler(settings);
        std::vector<std::unique_ptr<Told>> told;
        std::vector<Actions> taken;
        const auto tell = [&](std::unique_ptr<Told> one) {
            Actions actions;
            scheduler.on(one->event, actions);
            told.push_back(std::move(one));
            taken.push_back(std::move(actions));
        };
        int left = static_cast<int>(schedule.jobs.size());
        std::size_t next = 0;
        while (left > 0) {
            if (next < schedule.jobs.size()) {
                auto one = std::make_unique<Told>();
                const BatchRequest& request = schedule.jobs[next].request;
                one->tokens = request.prompt;
                one->stops = request.stop_ids;
                one->event = Submit{.request = static_cast<int>(next++),
                                    .tokens = one->tokens,
                                    .prompt = static_cast<int>(request.prompt.size()),
                                    .max_tokens = request.max_tokens,
                                    .stop_ids = one->stops,
                                    .priority = request.priority};
                // Blocks were counted for the ids that are forced, which here are none.
                if (least_blocks(static_cast<int>(request.prompt.size()), request.max_tokens,
                                 settings.context) > settings.blocks) {
                    --left;
                    continue;
                }
                tell(std::move(one));
            }
            auto step = std::make_unique<Told>();
            step->event = NextStep{};
            tell(std::move(step));
            const std::size_t feeds = taken.back().feeds.size();
            if (feeds == 0) continue;
            auto done = std::make_unique<Told>();
            for (std::size_t i = 0; i < feeds; ++i) {
                done->picked.push_back(dice.below(schedule.model.vocabulary));
                done->failed.push_back(dice.one_in(50) ? 1 : 0);
            }
            done->event = StepDone{1, done->picked, done->failed, {}};
            tell(std::move(done));
            left -= static_cast<int>(taken.back().finished.size());
            if (dice.one_in(20)) {
                auto swap = std::make_unique<Told>();
                swap->event = SwapWeights{dice.one_in(2)};
                tell(std::move(swap));
            }
        }
        Scheduler again(settings);
        for (std::size_t i = 0; i < told.size(); ++i) {
            Actions actions;
            again.on(told[i]->event, actions);
            ASSERT_EQ(actions, taken[i]) << "event " << i;
        }
        scheduler.empty_cache();
        EXPECT_EQ(scheduler.held_blocks(), 0);
    }
}

}  // namespace
}  // namespace assay::decode
