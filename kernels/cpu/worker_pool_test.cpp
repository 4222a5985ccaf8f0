// Every item once, on any number of threads, region after region, after parking too.
#include "kernels/cpu/worker_pool.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <set>
#include <thread>

namespace assay::kernels {
namespace {

TEST(WorkerPool, DoesEveryItemOnce) {
    for (const int threads : {1, 2, 3, 8}) {
        WorkerPool pool(threads);
        EXPECT_EQ(pool.threads(), threads);
        for (const int items : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(items));
            pool.run(items, [&](int item) { ++done[static_cast<std::size_t>(item)]; });
            for (const auto& times : done) EXPECT_EQ(times, 1);
        }
    }
}

TEST(WorkerPool, KeepsManyShortRegionsApart) {
    // Plain memory, written in one region and read in the next: a region that ended too early, or
    // an item done late, would show up as a wrong sum.
    for (const int threads : {2, 5}) {
        WorkerPool pool(threads);
        std::vector<long> values(64, 0);
        for (int region = 0; region < 5000; ++region)
            pool.run(64, [&](int item) { values[static_cast<std::size_t>(item)] += item; });
        for (int item = 0; item < 64; ++item)
            ASSERT_EQ(values[static_cast<std::size_t>(item)], 5000L * item);
    }
}

TEST(WorkerPool, WakesParkedWorkers) {
    WorkerPool pool(2);
    const auto caller = std::this_thread::get_id();
    for (int round = 0; round < 3; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than they spin
        std::atomic<bool> other{false};
        // The caller's item lasts until somebody else has taken one.
        pool.run(2, [&](int) {
            if (std::this_thread::get_id() != caller) other = true;
            while (!other) std::this_thread::yield();
        });
        EXPECT_TRUE(other);
    }
}

// Whoever has none left takes from the others, whatever share an item was in.
TEST(WorkerPool, LeavesNoItemToAThreadThatIsBusy) {
    for (const int threads : {2, 3, 5}) {
        WorkerPool pool(threads);
        // The first of a share is only ever taken alone, the last with none behind it.
        for (const int slow : {0, (40 + threads - 1) / threads, 39}) {
            std::atomic<int> done{0};
            pool.run(40, [&](int item) {
                while (item == slow && done < 39) std::this_thread::yield();
                ++done;
            });
            EXPECT_EQ(done, 40);
        }
    }
}

TEST(WorkerPool, StopsWhileWorkersSpinAndWhileTheyAreParked) {
    for (int round = 0; round < 20; ++round) WorkerPool(4).run(8, [](int) {});
    WorkerPool pool(4);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(WorkerPool, TakesAsManyThreadsAsTheAffinityMaskAllows) {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(WorkerPool(0).threads(), CPU_COUNT(&all));
    std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        for (int core = 0; core < CPU_SETSIZE; ++core)
            if (CPU_ISSET(core, &all)) {
                CPU_SET(core, &one);
                break;
            }
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_EQ(allowed_cores(), 1);
        EXPECT_EQ(WorkerPool(0).threads(), 1);
    }).join();
}

}  // namespace
}  // namespace assay::kernels
