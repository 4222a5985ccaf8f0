// The shortest step over all orders, against trying them; and neighbours of Theorem 1's order.
#include "impls/hetermoe/experiments/every_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace assay::hetermoe {
namespace {

struct Instance {
    int attention = 1, expert = 1, head = 0, exchange = 0, backward = 1;
};

TaskTimes times_of(const Instance& one) {
    TrainingProfile profile;
    profile.layers = 4;
    profile.experts = 1;
    profile.new_kind.attention = one.attention;
    profile.new_kind.head = one.head;
    profile.old_kind.expert = one.expert;
    profile.exchange = one.exchange;
    return task_times(profile, {1, 1}, Fraction(one.backward), 4);
}

// All merges of the tasks of two micro-batches, each in its own order.
std::vector<std::vector<Task>> merges(const std::vector<Task>& tasks) {
    std::vector<Task> one, two;
    for (const Task& task : tasks) (task.micro_batch == 1 ? one : two).push_back(task);
    std::vector<bool> from_two(tasks.size(), false);
    std::fill(from_two.begin() + static_cast<std::ptrdiff_t>(one.size()), from_two.end(), true);
    std::vector<std::vector<Task>> all;
    do {
        std::size_t i = 0, j = 0;
        all.emplace_back();
        for (const bool second : from_two) all.back().push_back(second ? two[j++] : one[i++]);
    } while (std::next_permutation(from_two.begin(), from_two.end()));
    return all;
}

// Transfers take no time here, so that their order follows that of what produces them.
Ticks shortest_by_trying(const TaskTimes& times, const StepShape& step) {
    const QueueOrders zebra = zebra_orders(step);
    std::optional<Ticks> shortest;
    for (const auto& attention : merges(zebra[0])) {
        for (const auto& expert : merges(zebra[1])) {
            try {
                const QueueOrders orders =
                    with_transfers_in_turn({attention, expert, {}, {}}, step);
                const Ticks length = makespan(timeline(times, step, orders));
                shortest = std::min(shortest.value_or(length), length);
            } catch (const std::invalid_argument&) {
                // These two wait for each other.
            }
        }
    }
    return shortest.value();
}

TEST(HetermoeEveryOrder, FindsWhatTryingAllFinds) {
    std::mt19937_64 random(1);
    std::uniform_int_distribution<int> any(1, 6);
    const std::vector<int> one_layer{0}, two_layers{0, 0};
    for (int i = 0; i < 40; ++i) {
        const Instance drawn{any(random), any(random), any(random) - 1, 0, (any(random) + 1) / 2};
        const TaskTimes times = times_of(drawn);
        const StepShape step{.micro_batches = 2, .offload = one_layer};
        ASSERT_TRUE(shortest_step(times, step) == shortest_by_trying(times, step)) << i;
    }
    const TaskTimes times = times_of({.attention = 3, .expert = 1, .backward = 3});
    const StepShape step{.micro_batches = 2, .offload = two_layers};
    const Ticks shortest = shortest_step(times, step);
    EXPECT_TRUE(shortest == shortest_by_trying(times, step));
    EXPECT_TRUE(shortest < zebra_makespan(times, step));
}

TEST(HetermoeEveryOrder, Theorem1NeedsALastStageThatTakesTime) {
    const std::vector<int> offload{0};
    const StepShape step{.micro_batches = 2, .offload = offload};
    const TaskTimes times = times_of({.attention = 2, .expert = 1, .backward = 2});
    EXPECT_TRUE(zebra_makespan(times, step) == 15 * 1 && shortest_step(times, step) == 14);
}

TEST(HetermoeEveryOrder, Theorem1FailsWithEquallyLongStagesToo) {
    const std::vector<int> offload{0, 0, 0};
    const StepShape step{.micro_batches = 3, .offload = offload};
    const TaskTimes times = times_of({.attention = 6, .expert = 8, .head = 6, .backward = 1});
    EXPECT_TRUE(zebra_makespan(times, step) == 160);
    EXPECT_TRUE(shortest_step(times, step) == 156);
}

// What is left of the proof: swapping two neighbours never helps.
TEST(HetermoeEveryOrder, NoSwapOfTwoNeighboursIsShorter) {
    std::mt19937_64 random(2);
    std::uniform_int_distribution<int> any(0, 9);
    int swaps = 0, longer = 0;
    for (int i = 0; i < 250; ++i) {
        const Instance drawn{any(random) + 1, any(random) + 1, any(random), any(random) / 3,
                             any(random) / 3 + 1};
        const TaskTimes times = times_of(drawn);
        const std::vector<int> offload(random() % 4 + 1, 0);
        const StepShape step{.micro_batches = static_cast<int>(random() % 3 + 2),
                             .offload = offload};
        const QueueOrders orders = zebra_orders(step);
        const Ticks zebra = zebra_makespan(times, step);
        for (const std::size_t queue : {0u, 1u}) {
            for (std::size_t at = 0; at + 1 < orders[queue].size(); ++at) {
                if (orders[queue][at].micro_batch == orders[queue][at + 1].micro_batch) continue;
                QueueOrders swapped = orders;
                std::swap(swapped[queue][at], swapped[queue][at + 1]);
                const Ticks length = makespan(
                    timeline(times, step, with_transfers_in_turn(std::move(swapped), step)));
                ASSERT_TRUE(length >= zebra) << i << ' ' << queue << ' ' << at;
                ++swaps;
                longer += length > zebra;
            }
        }
    }
    EXPECT_GT(longer, swaps / 10);
}

}  // namespace
}  // namespace assay::hetermoe
