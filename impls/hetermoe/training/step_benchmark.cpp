// What a step of a group of one new and one old worker costs beyond its own tasks, and an exchange
// beyond bare messages. Ranks are threads over Gloo's loopback sockets, as workers' messages go.
//
//     build/cpu/bin/hetermoe_step_benchmark
//
// step: over_timeline, the step's time over the makespan of the timeline of its own tasks, each as
// long as it took: what starting and handing over cost. Median over the steps; goal 1.05. It needs
// two idle processors.
// exchange: of_bare, the share that a training's dispatch of rows reaches of what one all-to-all of
// as many bytes does, in turns, medians; goal 0.9. Dropless routing has counts to tell.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "impls/hetermoe/policy/tasks.hpp"
#include "impls/hetermoe/training/group_step.hpp"
#include "impls/nn/all_to_all.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/cluster/worker_groups.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::hetermoe {
namespace {

using cluster::monotonic_s;

/// The two ends of a group's links.
class Pair {
  public:
    Pair() {
        both([&](int rank) {
            groups_[at(rank)] = std::make_unique<cluster::WorkerGroups>(
                rank, cluster::gloo_groups(rendezvous_.port(), cluster::Seconds(60)),
                cluster::Seconds(60), std::make_shared<cluster::LinkFaults>(rank, 1));
            out_[at(rank)] = groups_[at(rank)]->connect("out", {0, 1});
            in_[at(rank)] = groups_[at(rank)]->connect("in", {0, 1});
        });
    }
    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
    cluster::Communicator& out(int rank) { return *out_[at(rank)]; }
    cluster::Communicator& in(int rank) { return *in_[at(rank)]; }

    template <class Work>
    void both(Work&& work) {
        auto other = std::async(std::launch::async, [&] {
            at::set_num_threads(1);
            work(1);
        });
        work(0);
        other.get();
    }

  private:
    cluster::RendezvousServer rendezvous_;
    std::array<std::unique_ptr<cluster::WorkerGroups>, 2> groups_;
    std::array<std::unique_ptr<cluster::Communicator>, 2> out_, in_;
};

/// When the tasks of a step ran, those of a link from when both ranks were there.
class MeasuredTasks {
  public:
    void begins(const Task& task) { note(task, monotonic_s(), true); }
    void ends(const Task& task) { note(task, monotonic_s(), false); }

    /// Seconds of the step in which every task takes as long as it did, and starts once those it
    /// waits for and the one before it in its queue are done (policy/timeline.hpp).
    double makespan_s(const StepShape& shape) const {
        std::map<TaskName, double> ends;
        std::array<double, queues> free{};
        in_zebra_order(shape, [&](const Task& task) {
            double& now_s = free[static_cast<std::size_t>(queue_of(task.kind))];
            for (const Task& producer : producers(shape, task))
                now_s = std::max(now_s, ends.at(name_of(producer)));
            const auto& [from, to] = spans_.at(name_of(task));
            ends[name_of(task)] = now_s += to - from;
        });
        return *std::max_element(free.begin(), free.end());
    }

  private:
    void note(const Task& task, double now_s, bool begin) {
        const std::lock_guard lock(mutex_);
        auto& [from, to] = spans_[name_of(task)];
        (begin ? from : to) = std::max(begin ? from : to, now_s);
    }
    std::mutex mutex_;
    std::map<TaskName, std::pair<double, double>> spans_;
};

void step(benchmark::State& state) {
    at::set_num_threads(1);
    const int width = static_cast<int>(state.range(0)), moved = static_cast<int>(state.range(1));
    const nn::MoeGptConfig model{.layers = 4,
                                 .width = width,
                                 .heads = 4,
                                 .experts = 8,
                                 .top_k = 2,
                                 .hidden = 2 * width,
                                 .context = 128};
    const int micro_batches = 4;
    const GroupPlan plan{{1, 1}, micro_batches, std::vector<int>(4, moved)};
    Pair pair;
    std::array<std::unique_ptr<nn::MoeState>, 2> states;
    std::array<std::unique_ptr<GroupLinks>, 2> links;
    for (int rank = 0; rank < 2; ++rank) {
        auto& held = states[Pair::at(rank)] = std::make_unique<nn::MoeState>(model, 1);
        if (rank == 0) held->make_initial(nn::dense_key);
        for (int layer = 0; layer < model.layers; ++layer)
            for (int expert = 0; expert < model.experts; ++expert)
                if ((expert >= model.experts - moved) == (rank == 0))
                    held->make_initial({layer, expert});
        links[Pair::at(rank)] = std::make_unique<GroupLinks>(pair.out(rank), pair.in(rank));
    }
    std::vector<at::Tensor> tokens;
    for (int i = 0; i < micro_batches; ++i)
        tokens.push_back(at::randint(0, 256, {4, model.context + 1}, at::kLong));
    std::vector<double> over_timeline;
    for (auto _ : state) {
        MeasuredTasks measured;
        const double from_s = monotonic_s();
        pair.both([&](int rank) {
            run_group_step(plan, rank == 0 ? tokens : std::vector<at::Tensor>{}, 1,
                           *states[Pair::at(rank)], *links[Pair::at(rank)],
                           {.before = [&](const Task& task) { measured.begins(task); },
                            .after = [&](const Task& task, std::int64_t) { measured.ends(task); }});
        });
        const double took_s = monotonic_s() - from_s;
        const StepShape shape{.micro_batches = micro_batches, .offload = plan.offload};
        over_timeline.push_back(took_s / measured.makespan_s(shape));
    }
    state.counters["over_timeline"] = statistics::median(over_timeline);
}

void exchange(benchmark::State& state, double capacity_factor) {
    const auto rows = state.range(0), width = std::int64_t{256};
    const LayerHomes homes{1, std::vector<int>(8, 1)};
    const bool dropless = capacity_factor == 0;
    Pair pair;
    const auto chosen = at::arange(rows, at::kLong).remainder(8).view({rows / 2, 2});
    const auto sent = at::randn({rows, width});
    std::vector<double> bare_s, ours_s;
    const std::vector<std::int64_t> none{0, 0}, to{0, rows * width}, from{rows * width, 0};
    bool bare_first = true;
    for (auto _ : state) {
        bare_first = !bare_first;
        pair.both([&](int rank) {
            auto& comm = pair.out(rank);
            auto room = at::empty({rows, width});
            // By the thread that computes, not the link's.
            const auto outgoing =
                rank == 0 ? address({chosen, {}, 0}, homes, 2) : nothing_to_send(2);
            const auto timed = [&](std::vector<double>& times, auto&& exchange) {
                comm.barrier();
                const double from_s = monotonic_s();
                exchange();
                if (rank == 1) times.push_back(monotonic_s() - from_s);
            };
            const auto bare = [&] {
                comm.all_to_all_v(sent.data_ptr(), rank == 0 ? to : none, room.data_ptr(),
                                  rank == 0 ? none : from, cluster::Dtype::f32);
            };
            if (bare_first) timed(bare_s, bare);
            timed(ours_s, [&] {
                const auto mine = rank == 0 ? sent : sent.narrow(0, 0, 0);
                if (dropless) {
                    deliver(outgoing, mine, homes, comm);
                    return;
                }
                const auto incoming = fixed_counts({rows / 8}, homes, rank, 2, at::kCPU);
                nn::exchange_rows(mine, outgoing.rows, incoming.rows, comm);
            });
            if (!bare_first) timed(bare_s, bare);
        });
    }
    state.counters["of_bare"] = statistics::median(bare_s) / statistics::median(ours_s);
    state.counters["us"] = 1e6 * statistics::median(ours_s);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("rows")
        ->RangeMultiplier(4)
        ->Range(512, 8192)
        ->Iterations(300)
        ->UseRealTime();
}

BENCHMARK(step)
    ->ArgNames({"width", "moved"})
    ->ArgsProduct({{128, 384}, {0, 4}})
    ->Iterations(9)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exchange, dropless, 0.0)->Apply(sizes);
BENCHMARK_CAPTURE(exchange, capacity, 1.0)->Apply(sizes);

}  // namespace
}  // namespace assay::hetermoe

BENCHMARK_MAIN();
