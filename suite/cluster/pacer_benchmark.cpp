// How precisely operations are held to their modelled durations: workers that do some real work and
// then wait until the modelled device would be done, alone and several at once.
//
//     build/cpu/bin/cluster_pacer_benchmark
//
// work_pct: how much of each operation is real work; it begins where the last operation ended, for
// all workers at the same moments. With more workers than cores that work delays who shares a core:
// the error without work is the pacer's own, the one with work is that of pacing on this machine.
//
// Counters, over all operations of all workers: median_error_pct and p99_error_pct, the deviation
// of an operation's end from its deadline in percent of the operation's length. Goal: median under
// 1 %, p99 under 5 %. late_median_us is the same median in microseconds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "suite/cluster/pacer.hpp"

namespace {

using namespace assay::cluster;

constexpr double kSecondsOfOperations = 2;

void work_until(double deadline_s) {
    double value = 1;
    while (monotonic_s() < deadline_s) {
        for (int i = 0; i < 200; ++i) value = std::sqrt(value + i);
        benchmark::DoNotOptimize(value);
    }
}

std::vector<double> errors_s(double start_s, double operation_s, double work_s, int operations) {
    Pacer pacer(1.0);
    pacer.start(start_s);
    std::vector<double> errors;
    for (int i = 1; i <= operations; ++i) {
        work_until(monotonic_s() + work_s);
        pacer.hold_until(i * operation_s);
        errors.push_back(std::abs(monotonic_s() - (start_s + i * operation_s)));
    }
    return errors;
}

void pacer_error(benchmark::State& state) {
    const double operation_s = 1e-3 * double(state.range(0));
    const int workers = static_cast<int>(state.range(1));
    const double work_s = 0.01 * double(state.range(2)) * operation_s;
    const int operations = static_cast<int>(kSecondsOfOperations / operation_s);
    std::vector<double> all;
    for (auto _ : state) {
        std::vector<std::vector<double>> errors(workers);
        std::vector<std::thread> threads;
        const double start_s = monotonic_s() + 0.01;
        for (int worker = 0; worker < workers; ++worker) {
            threads.emplace_back([&, worker] {
                sleep_until(start_s);
                errors[worker] = errors_s(start_s, operation_s, work_s, operations);
            });
        }
        for (auto& thread : threads) thread.join();
        for (const auto& some : errors) all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    const double median = all[all.size() / 2], p99 = all[all.size() * 99 / 100];
    state.counters["median_error_pct"] = 100 * median / operation_s;
    state.counters["p99_error_pct"] = 100 * p99 / operation_s;
    state.counters["late_median_us"] = 1e6 * median;
}

BENCHMARK(pacer_error)
    ->ArgNames({"ms", "workers", "work_pct"})
    ->ArgsProduct({{5, 10, 50}, {1, 4}, {0, 20}})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
