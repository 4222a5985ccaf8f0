// Probes of the processors and the memory, and the arithmetic on readings.
#include "suite/measure/machine_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "suite/measure/machine_probe_kernel.hpp"
#include "suite/measure/machine_probe_threads.hpp"

namespace assay::measure {

double Reading::median() const {
    if (values.empty()) throw std::logic_error("a reading without values");
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double Reading::least() const { return *std::min_element(values.begin(), values.end()); }

double Reading::most() const { return *std::max_element(values.begin(), values.end()); }

ProbeEffort ProbeEffort::quick() {
    ProbeEffort effort;
    effort.repetitions = 3;
    effort.seconds = 0.03;
    effort.copy_bytes = 64ULL << 20;
    effort.storage_bytes = 8ULL << 20;
    return effort;
}

Reading probe_matmul(const ProbeEffort& effort, int threads) {
    constexpr int n = 16 * blocked_matmul_step;
    struct Matrices {
        std::vector<float> a, b, c;
    };
    std::vector<Matrices> all(static_cast<std::size_t>(threads));
    for (Matrices& mine : all) {
        mine.a.assign(static_cast<std::size_t>(n) * n, 1e-3F);
        mine.b.assign(static_cast<std::size_t>(n) * n, 1e-3F);
        mine.c.assign(static_cast<std::size_t>(n) * n, 0.0F);
    }
    const auto round = [&](int thread) {
        Matrices& mine = all[static_cast<std::size_t>(thread)];
        blocked_matmul(mine.a.data(), mine.b.data(), mine.c.data(), n);
    };
    rounds_per_second(threads, 0, round);  // pages, clocks
    Reading reading;
    reading.how = fmt::format("our blocked fp32 kernel, {}, {} thread{}, {} x {} matrices",
                              blocked_matmul_vectors(), threads, threads == 1 ? "" : "s", n, n);
    for (int i = 0; i < effort.repetitions; ++i)
        reading.values.push_back(2.0 * n * n * n *
                                 rounds_per_second(threads, effort.seconds, round));
    return reading;
}

Reading probe_memory(const ProbeEffort& effort, int threads) {
    const std::size_t bytes = effort.copy_bytes / static_cast<std::size_t>(threads);
    std::vector<std::vector<char>> from, to;
    for (int thread = 0; thread < threads; ++thread) {
        from.emplace_back(bytes, 'a');
        to.emplace_back(bytes, 'b');
    }
    const auto round = [&](int thread) {
        const auto i = static_cast<std::size_t>(thread);
        std::memcpy(to[i].data(), from[i].data(), bytes);
    };
    rounds_per_second(threads, 0, round);
    Reading reading;
    reading.how = fmt::format(
        "copying between two buffers of {} MiB, {} thread{}, bytes read plus bytes written",
        effort.copy_bytes >> 20, threads, threads == 1 ? "" : "s");
    for (int i = 0; i < effort.repetitions; ++i)
        reading.values.push_back(2.0 * static_cast<double>(bytes) *
                                 rounds_per_second(threads, effort.seconds, round));
    return reading;
}

}  // namespace assay::measure
