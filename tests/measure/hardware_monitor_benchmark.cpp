// What one look at the machine costs, beside a sample.
#include <benchmark/benchmark.h>

#include "suite/measure/hardware/clock_guard.hpp"
#include "suite/measure/hardware/hardware_monitor.hpp"
#include "suite/measure/hardware/machine_state.hpp"

namespace {

using namespace assay::measure;

void one_reading(benchmark::State& state) {
    HardwareMonitor monitor;
    for (auto _ : state) benchmark::DoNotOptimize(monitor.read(0, Phase::during));
}
BENCHMARK(one_reading)->Unit(benchmark::kMicrosecond);

/// Readings of an hour.
void guard(benchmark::State& state) {
    HardwareMonitor monitor;
    std::vector<DeviceReading> readings;
    for (int i = 0; i < 3600; ++i) readings.push_back(monitor.read(i, Phase::during).front());
    for (auto _ : state)
        benchmark::DoNotOptimize(guard_clock(readings, monitor.reference_clocks_hz()));
}
BENCHMARK(guard)->Unit(benchmark::kMicrosecond);

void settings(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(read_cpu_state("/"));
        benchmark::DoNotOptimize(read_memory_state("/"));
    }
}
BENCHMARK(settings)->Unit(benchmark::kMicrosecond);

void processes(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(busy_processes("/", 0, 1));
}
BENCHMARK(processes)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
