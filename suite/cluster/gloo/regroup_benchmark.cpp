// How long training stands still when a rank dies: from SIGKILL of one worker to the first good
// all-reduce of the last survivor, real processes and sockets, by group size before the loss.
//
//     build/cpu/bin/cluster_regroup_benchmark
//
// Counters: detect_ms, until the supervisor knows; broken_ms, until the last survivor's call has
// thrown. Both count from the kill, like the time itself. Goal: under 50 ms at 8 ranks.
#include <benchmark/benchmark.h>

#include "suite/cluster/gloo/regroup_exercise.hpp"

namespace {

assay::cluster::RegroupExercise* exercise = nullptr;

void regroup_after_kill(benchmark::State& state) {
    double detect_s = 0, broken_s = 0;
    std::size_t victim = 0;
    for (auto _ : state) {
        exercise->form(static_cast<int>(state.range(0)));
        const auto& members = exercise->members();
        const auto timeline = exercise->lose({members[victim++ % members.size()]});
        state.SetIterationTime(timeline.regrouped_s);
        detect_s += timeline.detected_s;
        broken_s += timeline.all_broken_s;
    }
    using benchmark::Counter;
    state.counters["detect_ms"] = Counter(1e3 * detect_s, Counter::kAvgIterations);
    state.counters["broken_ms"] = Counter(1e3 * broken_s, Counter::kAvgIterations);
}

BENCHMARK(regroup_after_kill)
    ->ArgName("ranks")
    ->Arg(2)
    ->Arg(4)
    ->Arg(8)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(10);

}  // namespace

int main(int argc, char** argv) {
    // First of all: the fork server inside wants a process without threads.
    assay::cluster::RegroupExercise regroup;
    exercise = &regroup;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
