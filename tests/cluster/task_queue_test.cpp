// Tasks run in order, after their events, and what fails takes along what is behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "suite/cluster/collectives/in_process.hpp"
#include "suite/cluster/task_queue.hpp"

namespace assay::cluster {
namespace {

using testing::ElementsAre;

TEST(TaskQueue, RunsInOrderEachAfterItsEvents) {
    TaskQueue queue;
    std::promise<void> open;
    std::vector<int> ran;
    const Event first = queue.enqueue({open.get_future().share()}, [&] { ran.push_back(1); });
    const Event second = queue.enqueue({}, [&] { ran.push_back(2); });
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
    open.set_value();
    second.get();
    EXPECT_THAT(ran, ElementsAre(1, 2));
    first.get();
}

TEST(TaskQueue, TwoQueuesWaitForEachOthersTasksByTurns) {
    TaskQueue one, other;
    std::vector<int> ran;
    Event last;
    for (int i = 0; i < 100; ++i) {
        auto& queue = i % 2 ? one : other;
        last = queue.enqueue(i ? std::vector{last} : std::vector<Event>{},
                             [&ran, i] { ran.push_back(i); });
    }
    last.get();
    ASSERT_EQ(ran.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
}

TEST(TaskQueue, WhatFailsTakesAlongWhatIsBehindItAndWhatWaitsForIt) {
    TaskQueue queue, other;
    bool ran = false;
    const Event fails = queue.enqueue({}, [] { throw std::runtime_error("no"); });
    const Event behind = queue.enqueue({}, [&] { ran = true; });
    const Event waits = other.enqueue({fails}, [&] { ran = true; });
    EXPECT_THROW(fails.get(), std::runtime_error);
    EXPECT_THROW(behind.get(), std::runtime_error);
    EXPECT_THROW(waits.get(), std::runtime_error);
    EXPECT_FALSE(ran);
}

TEST(TaskQueue, APromiseThatGoesAwayFailsItsEvent) {
    TaskQueue queue;
    Event event;
    {
        std::promise<void> given_up;
        event = queue.enqueue({given_up.get_future().share()}, [] {});
    }
    EXPECT_THROW(event.get(), std::future_error);
}

TEST(TaskQueue, EndsWithWhatRunsAndAbandonsTheRest) {
    Event running, behind;
    bool ran = false;
    {
        TaskQueue queue;
        std::promise<void> begun;
        running = queue.enqueue({}, [&] {
            begun.set_value();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        });
        behind = queue.enqueue({}, [&] { ran = true; });
        begun.get_future().get();
    }
    running.get();
    EXPECT_THROW(behind.get(), std::future_error);
    EXPECT_FALSE(ran);
}

// Two communicators at once, as a pipeline uses them: every rank has the same order in each, and
// any order between them.
TEST(TaskQueue, CollectivesOfTwoCommunicatorsOverlap) {
    constexpr int ranks = 3;
    auto dispatch = make_in_process_group(ranks), combine = make_in_process_group(ranks);
    std::vector<std::int64_t> sums(ranks, 0);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            const auto r = static_cast<std::size_t>(rank);
            TaskQueue out, in;
            std::vector<std::int64_t> values(20, rank + 1);
            std::vector<Event> all;
            for (auto& value : values) {
                all.push_back(
                    out.enqueue({}, [&] { dispatch[r]->all_reduce_sum(&value, 1, Dtype::i64); }));
                all.push_back(in.enqueue(
                    {all.back()}, [&] { combine[r]->all_reduce_sum(&value, 1, Dtype::i64); }));
            }
            for (const auto& event : all) event.get();
            for (const auto value : values) sums[r] += value;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_THAT(sums, ElementsAre(360, 360, 360));  // 20 · 3 · (1 + 2 + 3)
}

}  // namespace
}  // namespace assay::cluster
