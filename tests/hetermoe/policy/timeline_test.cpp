// Theorem 1's order and the times that follow from it, against rules written down again.
#include "impls/hetermoe/policy/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/hetermoe/policy/profiles.hpp"

namespace assay::hetermoe {
namespace {

using Vector = std::vector<int>;

std::string text(const std::vector<Task>& tasks) {
    std::string all;
    for (const Task& task : tasks)
        all += std::string(to_string(task.kind)) + std::to_string(task.layer) +
               std::to_string(task.micro_batch) + ' ';
    return all;
}

TEST(HetermoeOrder, IsTheoremOnes) {
    const Vector offload{0, 1};
    const QueueOrders orders = zebra_orders({.micro_batches = 2, .offload = offload});
    EXPECT_EQ(text(orders[0]),
              "AF11 AF12 AF21 AF22 XF21 XF22 AF31 AB31 AF32 AB32 XB21 XB22 AB21 AB22 AB11 AB12 ");
    EXPECT_EQ(text(orders[1]), "EF11 EF12 EF21 EF22 EB21 EB22 EB11 EB12 ");
    EXPECT_EQ(text(orders[2]), "DF11 DF12 DF21 DF22 CB21 CB22 CB11 CB12 ");
    EXPECT_EQ(text(orders[3]), "CF11 CF12 CF21 CF22 DB21 DB22 DB11 DB12 ");
    const QueueOrders forward =
        zebra_orders({.micro_batches = 2, .offload = offload, .backward = false});
    EXPECT_EQ(text(forward[0]), "AF11 AF12 AF21 AF22 XF21 XF22 AF31 AF32 ");
    EXPECT_EQ(text(forward[3]), "CF11 CF12 CF21 CF22 ");
}

// The paper's Fig. 6, with communication that takes no time.
TEST(HetermoeTimeline, GivesTheNumbersOfThePapersFigure6) {
    const auto forward = [](Nanoseconds expert_on_new, const Vector& offload) {
        const TaskTimes times = task_times(fig6_profile(expert_on_new), {1, 1}, Fraction(1), 3);
        const StepShape step{.micro_batches = 3, .offload = offload, .backward = false};
        const Ticks length = zebra_makespan(times, step);
        return std::pair{times.seconds(length) * 1e6,
                         times.seconds(length - busy(times, step, Queue::attention)) * 1e6};
    };
    const auto [zebra, idle] = forward(800, {0, 0, 0});
    EXPECT_DOUBLE_EQ(zebra, 9.75);
    EXPECT_DOUBLE_EQ(idle, 3.0);
    const auto [moved, less_idle] = forward(800, {0, 1, 1});
    EXPECT_DOUBLE_EQ(moved, 8.75);
    EXPECT_DOUBLE_EQ(less_idle, 1.2);
    EXPECT_DOUBLE_EQ(forward(1000, {1, 1, 1}).first, 8.75);
}

// What a task takes: the formulas written out, in nanoseconds.
Fraction duration(const TrainingProfile& profile, const Group& group, const Fraction& factor,
                  const StepShape& step, const Task& task) {
    const Fraction rows(group.attention, group.expert);
    const Fraction passes = to_string(task.kind)[1] == 'B' ? factor : Fraction(1);
    const Fraction n(profile.experts);
    switch (to_string(task.kind)[0]) {
        case 'A':
            return passes * Fraction(task.layer > step.layers() ? profile.new_kind.head
                                                                : *profile.new_kind.attention);
        case 'E':
            return passes * Fraction(profile.old_kind.expert) * rows *
                   (Fraction(1) - Fraction(step.offloaded(task.layer) * group.expert) / n);
        case 'X':
            return passes * Fraction(profile.new_kind.expert) * rows *
                   Fraction(step.offloaded(task.layer) * group.expert * group.expert) /
                   (n * Fraction(group.attention));
        default:
            return Fraction(profile.exchange) * std::max(Fraction(1), rows);
    }
}

struct Case {
    TrainingProfile profile;
    Group group;
    Fraction factor;
    Vector offload;
    StepShape step() const {
        return {.micro_batches = profile.micro_batches.front(), .offload = offload};
    }
};

Case random_case(std::mt19937_64& random) {
    Case drawn{random_profile(random), {}, Fraction(static_cast<int>(random() % 5 + 1), 2), {}};
    drawn.profile.experts = 24;
    drawn.group = {drawn.profile.new_kind.gpus, drawn.profile.old_kind.gpus};
    for (int l = 0; l < drawn.profile.layers; ++l)
        drawn.offload.push_back(
            static_cast<int>(random() % static_cast<unsigned>(24 / drawn.group.expert + 1)));
    return drawn;
}

// Start times by brute force: raised until every rule holds.
std::map<std::string, Fraction> starts_by_relaxation(const Case& drawn) {
    const StepShape step = drawn.step();
    const QueueOrders orders = zebra_orders(step);
    std::map<std::string, Fraction> starts;
    const auto end = [&](const Task& task) {
        return starts[text({task})] +
               duration(drawn.profile, drawn.group, drawn.factor, step, task);
    };
    for (bool raised = true; raised;) {
        raised = false;
        for (const auto& queue : orders) {
            for (std::size_t i = 0; i < queue.size(); ++i) {
                std::vector<Task> before = producers(step, queue[i]);
                if (i > 0) before.push_back(queue[i - 1]);
                Fraction& start = starts[text({queue[i]})];
                for (const Task& earlier : before) {
                    if (!(end(earlier) > start)) continue;
                    start = end(earlier);
                    raised = true;
                }
            }
        }
    }
    return starts;
}

TEST(HetermoeTimeline, StartsEachTaskAsSoonAsTheRulesAllow) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 150; ++i) {
        const Case drawn = random_case(random);
        const StepShape step = drawn.step();
        const TaskTimes times =
            task_times(drawn.profile, drawn.group, drawn.factor, step.micro_batches);
        const Timeline found = zebra_timeline(times, step);
        const auto expected = starts_by_relaxation(drawn);
        ASSERT_EQ(found.size(), expected.size());  // each task once
        Ticks last = 0;
        for (const auto& [task, start, end] : found) {
            const Fraction nanoseconds =
                Fraction(start) / times.ticks_per_s * Fraction(1'000'000'000);
            ASSERT_TRUE(nanoseconds == expected.at(text({task}))) << text({task});
            ASSERT_TRUE(end - start == times.of(step, task));
            ASSERT_TRUE(start >= last);
            last = start;
        }
        ASSERT_TRUE(makespan(found) == zebra_makespan(times, step));
        TaskTimes wide = times;  // too long for 64 bits, it would say
        wide.longest = Ticks{1} << 100;
        ASSERT_TRUE(makespan(found) == zebra_makespan(wide, step));
    }
}

TEST(HetermoeTimeline, AsksOnlyForTheOrderOfEachQueue) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 100; ++i) {
        const Case drawn = random_case(random);
        const StepShape step = drawn.step();
        const TaskTimes times =
            task_times(drawn.profile, drawn.group, drawn.factor, step.micro_batches);
        Timeline given = timeline(times, step, zebra_orders(step));
        Timeline direct = zebra_timeline(times, step);
        const auto by_task = [](const TimedTask& a, const TimedTask& b) {
            return name_of(a.task) < name_of(b.task);
        };
        std::sort(given.begin(), given.end(), by_task);
        std::sort(direct.begin(), direct.end(), by_task);
        ASSERT_EQ(given, direct);
        for (std::size_t queue = 0; queue < queues; ++queue) {
            Ticks sum = 0;
            for (const TimedTask& timed : direct)
                if (queue_of(timed.task.kind) == Queue(queue)) sum += timed.end - timed.start;
            ASSERT_TRUE(sum == busy(times, step, Queue(queue)));
        }
    }
}

TEST(HetermoeTimeline, RefusesOrdersThatWaitForEachOther) {
    const Vector offload{0};
    const StepShape step{.micro_batches = 2, .offload = offload};
    const TaskTimes times = task_times(fig6_profile(), {1, 1}, Fraction(1), 2);
    QueueOrders orders = zebra_orders(step);
    std::swap(orders[0][1], orders[0].back());  // AB12 before what it follows from
    EXPECT_THROW(timeline(times, step, orders), std::invalid_argument);
}

TEST(HetermoeTimeline, ScalesWithItsTimes) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 100; ++i) {
        Case drawn = random_case(random);
        const auto length = [&] {
            return zebra_makespan(
                task_times(drawn.profile, drawn.group, drawn.factor, drawn.step().micro_batches),
                drawn.step());
        };
        const Ticks once = length();
        for (GpuKind* kind : {&drawn.profile.new_kind, &drawn.profile.old_kind}) {
            kind->attention = 7 * *kind->attention;
            kind->expert *= 7;
            kind->head *= 7;
        }
        drawn.profile.exchange *= 7;
        ASSERT_TRUE(length() == 7 * once);
    }
}

TEST(HetermoeTimeline, RefusesTimesThatWouldNotStayExact) {
    TrainingProfile profile = fig6_profile();
    profile.layers = profile.experts = 4096;
    profile.new_kind.expert = profile.old_kind.expert = profile.exchange = 1'000'000'000'000'000;
    EXPECT_NO_THROW(task_times(profile, {4096, 1}, Fraction(3), 4096));
    EXPECT_THROW(task_times(profile, {4096, 1}, decimal_fraction(3.000000000001), 4096),
                 TooLargeToStayExact);
}

}  // namespace
}  // namespace assay::hetermoe
