// Benchmarks against the ceiling that memory sets: what is measured and a plain read of as much
// memory, by the same threads, take turns, so that both see the same machine.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/random_weights.hpp"
#include "kernels/cpu/streamed_memory.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels::reference {

/// Weights that are as good as random for speed, and quickly made.
inline StreamedMemory streamed_weights(AssayType type, std::size_t bytes) {
    StreamedMemory memory = allocate_streamed(bytes);
    repeat_pattern(random_weight_pattern(type, 1), {memory.get(), bytes});
    return memory;
}

inline double quantile(std::vector<double> values, double share) {
    const auto wanted = values.begin() +
                        static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), wanted, values.end());
    return *wanted;
}

/// Calls kernel() once each iteration; it must move `bytes`. Counters: GB/s (of the median call);
/// best_GB/s and read_GB/s, those of the fastest twentieth of calls and of the reads in between;
/// and of_read, the ratio of these two. On a machine that does nothing else median and fastest
/// agree; on one that is shared only the fastest calls had it to themselves.
template <class Kernel>
void measure_against_reading(benchmark::State& state, AssayContext& context, std::size_t bytes,
                             const Kernel& kernel) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t reserve = 512 * 1024 * 1024;
    static const StreamedMemory memory = [] {
        StreamedMemory filled = allocate_streamed(reserve);
        std::memset(filled.get(), 1, reserve);
        return filled;
    }();
    const std::size_t read = std::clamp(bytes / streamed_read_piece * streamed_read_piece,
                                        64 * streamed_read_piece, reserve / 2);
    std::size_t at = 0;
    std::vector<double> kernel_s, read_s;
    kernel();
    for ([[maybe_unused]] auto iteration : state) {
        if (at + read > reserve) at = 0;
        read_s.push_back(
            streamed_read_seconds(context.pool, context.instructions, memory.get() + at, read));
        at += read;
        const Clock::time_point start = Clock::now();
        kernel();
        kernel_s.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        state.SetIterationTime(kernel_s.back());
    }
    if (kernel_s.empty()) return;  // the kernel refused
    constexpr double fastest = 0.05;
    const double kernel_rate = static_cast<double>(bytes) / quantile(kernel_s, fastest);
    const double read_rate = static_cast<double>(read) / quantile(read_s, fastest);
    state.counters["GB/s"] = static_cast<double>(bytes) / quantile(kernel_s, 0.5) / 1e9;
    state.counters["best_GB/s"] = kernel_rate / 1e9;
    state.counters["read_GB/s"] = read_rate / 1e9;
    state.counters["of_read"] = kernel_rate / read_rate;
    state.counters["threads"] = context.pool.threads();
}

/// One thread, and all that may be used where these are more.
inline std::vector<std::int64_t> thread_counts() {
    if (allowed_cores() == 1) return {1};
    return {1, allowed_cores()};
}

}  // namespace assay::kernels::reference
