// A forward pass split between two sides in one process: equal numbers, the planned order, held to
// its times, and an end where a task fails.
#include "impls/hetermoe/emulated/split_forward.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <stdexcept>

#include "impls/hetermoe/policy/timeline.hpp"
#include "suite/cluster/collectives/in_process.hpp"
#include "suite/cluster/pacer.hpp"
#include "tests/hetermoe/policy/profiles.hpp"

namespace assay::hetermoe {
namespace {

struct Pair {
    explicit Pair(std::vector<int> moved, int micro_batches = 3)
        : offload(std::move(moved)),
          step{.micro_batches = micro_batches, .offload = offload, .backward = false},
          out(cluster::make_in_process_group(2)),
          in(cluster::make_in_process_group(2)),
          attention(model, step, Side::attention, *out[0], *in[0]),
          expert(model, step, Side::expert, *out[1], *in[1]) {}

    using Work = std::function<void(const Task&)>;
    std::future<StepRun> start(
        Side side, double start_s, std::function<double(const Task&)> held,
        Work before = [](const Task&) {}) {
        const std::size_t rank = side == Side::attention ? 0 : 1;
        SplitForward& forward = side == Side::attention ? attention : expert;
        return std::async(std::launch::async, [=, this, &forward] {
            return execute({.side = side,
                            .step = step,
                            .start_s = start_s,
                            .work =
                                [&](const Task& task) {
                                    before(task);
                                    forward.run(task);
                                },
                            .modelled_s = held,
                            .abort =
                                [&] {
                                    out[rank]->abort("a task failed");
                                    in[rank]->abort("a task failed");
                                }});
        });
    }

    SmallMoe model{.layers = 3, .experts = 6, .width = 8, .rows_per_expert = 2};
    std::vector<int> offload;
    StepShape step;
    std::vector<std::unique_ptr<cluster::Communicator>> out, in;
    SplitForward attention, expert;
};

TEST(HetermoeSplitForward, ComputesWhatOneProcessDoes) {
    const auto free = [](const Task&) { return 0.0; };
    for (const std::vector<int>& moved : {std::vector{0, 0, 0}, {0, 1, 1}, {2, 0, 5}, {6, 6, 6}}) {
        Pair pair(moved);
        const double start_s = cluster::monotonic_s();
        auto one = pair.start(Side::attention, start_s, free);
        auto other = pair.start(Side::expert, start_s, free);
        const StepRun attention = one.get(), expert = other.get();
        for (int j = 1; j <= 3; ++j)
            EXPECT_EQ(pair.attention.result(j), whole_forward(pair.model, j)) << j;
        EXPECT_NE(whole_forward(pair.model, 1), whole_forward(pair.model, 2));
        // Each of its queues in the planned order, and no task of the other's.
        const QueueOrders orders = zebra_orders(pair.step);
        for (const auto& [run, own] :
             {std::pair(attention, Queue::attention), std::pair(expert, Queue::expert)}) {
            for (const Queue queue :
                 {Queue::attention, Queue::expert, Queue::link_out, Queue::link_in}) {
                std::vector<Task> seen;
                for (const TaskRun& ran : run.tasks)
                    if (queue_of(ran.task.kind) == queue) seen.push_back(ran.task);
                const bool takes_part =
                    queue == own || queue == Queue::link_out || queue == Queue::link_in;
                EXPECT_EQ(seen, takes_part ? orders[static_cast<std::size_t>(queue)]
                                           : std::vector<Task>{});
            }
        }
    }
}

// Generous: how exact a busy machine is, is the experiment's to say.
TEST(HetermoeSplitForward, LastsAsLongAsItsTimeline) {
    Pair pair({0, 1, 1});
    const TaskTimes times = task_times(fig6_profile(), {1, 1}, Fraction(1), 3);
    const auto held = [&](const Task& task) {  // an expert task: 20 ms
        return times.seconds(times.of(pair.step, task)) * 20'000;
    };
    const double start_s = cluster::monotonic_s();
    auto one = pair.start(Side::attention, start_s, held);
    auto other = pair.start(Side::expert, start_s, held);
    double end_s = 0;
    for (const TaskRun& run : one.get().tasks) end_s = std::max(end_s, run.end_s);
    other.get();
    EXPECT_GE(end_s, 8.75 * 0.02 - 0.002);
    EXPECT_LT(end_s, 8.75 * 0.02 * 20);
}

TEST(HetermoeSplitForward, EndsOnBothSidesWhereATaskFails) {
    const auto free = [](const Task&) { return 0.0; };
    for (const TaskKind fails : {TaskKind::AF, TaskKind::EF, TaskKind::CF}) {
        Pair pair({0, 1, 1});
        const auto trap = [&](const Task& task) {
            if (task.kind == fails && task.layer == 2) throw std::runtime_error("a trap");
        };
        const double start_s = cluster::monotonic_s();
        const Side side = fails == TaskKind::EF ? Side::expert : Side::attention;
        const Side peer = fails == TaskKind::EF ? Side::attention : Side::expert;
        auto failing = pair.start(side, start_s, free, trap);
        auto waiting = pair.start(peer, start_s, free);
        EXPECT_THROW(failing.get(), std::runtime_error);
        EXPECT_THROW(waiting.get(), cluster::CommunicatorBroken);
    }
}

}  // namespace
}  // namespace assay::hetermoe
