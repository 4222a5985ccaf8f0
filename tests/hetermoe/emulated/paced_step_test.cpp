// Steps rank by rank: as the policy's timeline where ranks are equal, and how much of one is late.
#include "impls/hetermoe/emulated/paced_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "impls/hetermoe/policy/timeline.hpp"

namespace assay::hetermoe {
namespace {

PacedStep step_of(Group group, int micro_batches, std::vector<int> offload, double backward = 3) {
    PacedStep step{.layout = {group, 1, micro_batches, std::move(offload), {}},
                   .experts = 8,
                   .exchange_s = 0.25,
                   .backward = backward};
    for (int rank = 0; rank < group.attention + group.expert; ++rank) {
        step.layout.ranks.push_back(rank);
        step.ranks.push_back(step.layout.is_attention(rank)
                                 ? GpuSeconds{.attention = 0.75, .expert = 0.8, .head = 0.1}
                                 : GpuSeconds{.expert = 1});
    }
    return step;
}

double makespan_by_policy(const PacedStep& step) {
    TrainingProfile profile;
    profile.layers = step.layout.layers();
    profile.experts = step.experts;
    profile.new_kind = {.gpus = 8,
                        .attention = 750'000'000,
                        .expert = 800'000'000,
                        .head = 100'000'000,
                        .capacity = {}};
    profile.old_kind.expert = 1'000'000'000;
    profile.exchange = 250'000'000;
    const Fraction backward(step.backward > 0 ? static_cast<int>(step.backward) : 1);
    const TaskTimes times =
        task_times(profile, step.layout.group, backward, step.layout.micro_batches);
    return times.seconds(zebra_makespan(times, step.shape()));
}

TEST(HetermoePacedStep, IsThePolicysTimelineWhereRanksAreEqual) {
    for (const PacedStep& step :
         {step_of({1, 1}, 3, {0, 1, 1}), step_of({2, 2}, 2, {0, 0, 2}),
          step_of({1, 2}, 4, {1, 0, 1}), step_of({2, 2}, 3, {1, 1, 1}, 0)}) {
        const auto runs = planned_runs(step);
        EXPECT_NEAR(makespan_s(runs), makespan_by_policy(step), 1e-9);
        EXPECT_NEAR(late_s(step.shape(), runs), 0, 1e-9);
    }
    // Twice as many new GPUs send twice as many rows to each old one.
    PacedStep step = step_of({2, 1}, 2, {0, 4, 0});
    step.exchange_s *= 2;
    EXPECT_NEAR(makespan_s(planned_runs(step)), makespan_by_policy(step), 1e-9);
}

TEST(HetermoePacedStep, WaitsForASlowRankAndForARowsRank) {
    const PacedStep even = step_of({2, 2}, 2, {0, 0, 0});
    PacedStep slow = even;
    slow.ranks[3].expert *= 2;
    PacedStep both = slow;
    both.ranks[2].expert *= 2;
    EXPECT_GT(makespan_s(planned_runs(slow)), 1.3 * makespan_s(planned_runs(even)));
    EXPECT_NEAR(makespan_s(planned_runs(slow)), makespan_s(planned_runs(both)), 1e-9);
    // All rows for the second expert GPU, or all for experts that moved: one GPU has all the work.
    PacedStep skewed = even;
    skewed.loads.assign(3, {0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25});
    const Task task{TaskKind::EF, 1, 1};
    EXPECT_EQ(expected_rows(skewed, 2, task), 0);
    EXPECT_EQ(expected_rows(skewed, 3, task), 2);
    EXPECT_EQ(expected_rows(even, 3, task), 1);
    EXPECT_EQ(expected_rows(skewed, 3, {TaskKind::DF, 1, 1}), 2);
    EXPECT_EQ(expected_rows(skewed, 0, {TaskKind::DF, 1, 1}), 1);
}

// Delays anywhere: the makespan without them is found again, to within what is said to be late.
TEST(HetermoePacedStep, LatenessBoundsWhatTheMakespanWouldBe) {
    const PacedStep step = step_of({2, 2}, 3, {1, 0, 2});
    const double clean = makespan_s(planned_runs(step));
    std::mt19937 random(3);
    for (int round = 0; round < 50; ++round) {
        // A later end of a task delays what follows; played by ranks with tasks that are longer.
        PacedStep delayed = step;
        for (GpuSeconds& gpu : delayed.ranks)
            for (double* part : {&gpu.attention, &gpu.expert, &gpu.head})
                *part *= 1 + 0.1 * static_cast<double>(random() % 100) / 100;
        auto runs = planned_runs(delayed);
        for (TaskRun& run : runs)  // they should have been held for less
            run.held_s = task_s(step, run.rank, run.task, expected_rows(step, run.rank, run.task));
        const double late = late_s(step.shape(), runs), makespan = makespan_s(runs);
        EXPECT_LE(clean, makespan + 1e-9);
        EXPECT_GE(clean, makespan - late - 1e-9);
        EXPECT_LE(late, 0.1 * makespan);
    }
    // One task of one rank on the way, by a second.
    auto runs = planned_runs(step);
    const auto last = std::max_element(
        runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.end_s < b.end_s; });
    last->end_s += 1;
    EXPECT_NEAR(late_s(step.shape(), runs), 1, 1e-9);
}

}  // namespace
}  // namespace assay::hetermoe
