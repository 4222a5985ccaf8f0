// What a delta costs beside a plain pass over the same bytes: two versions of 128 MiB each.
//
//     build/cpu/bin/weights_delta_benchmark
//
// Argument: changed elements in a thousand. compare: counts them; make: in memory, counted and
// collected; apply: checked and scattered. Each takes turns with what it is held against, so that
// both see the same machine. Counters: of_memcmp (of_memcpy for apply), the plain pass's time over
// this one's, of the sums of all rounds; GB/s, of one version's bytes.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "impls/weights/delta.hpp"

namespace assay::weights {
namespace {

constexpr std::size_t version_bytes = std::size_t{128} << 20;

using Version = std::vector<std::byte>;

const Version& before() {
    static const Version version = [] {
        Version made(version_bytes);
        std::mt19937_64 random(1);
        for (std::size_t at = 0; at < made.size(); at += sizeof(std::uint64_t)) {
            const std::uint64_t word = random();
            std::memcpy(made.data() + at, &word, sizeof word);
        }
        return made;
    }();
    return version;
}

Version after(std::int64_t per_thousand) {
    Version version = before();
    std::mt19937_64 random(2);
    for (std::size_t at = 0; at < version.size(); at += 2)
        if (static_cast<std::int64_t>(random() % 1000) < per_thousand) version[at] ^= std::byte{1};
    return version;
}

template <class Work>
double seconds_of(Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Plain, class Work>
void measure(benchmark::State& state, const char* against, Plain&& plain, Work&& work) {
    double plain_s = 0, work_s = 0;
    plain();
    work();
    for ([[maybe_unused]] auto iteration : state) {
        plain_s += seconds_of(plain);
        const double taken = seconds_of(work);
        work_s += taken;
        state.SetIterationTime(taken);
    }
    state.counters[against] = plain_s / work_s;
    state.counters["GB/s"] =
        static_cast<double>(state.iterations()) * static_cast<double>(version_bytes) / work_s / 1e9;
}

/// All of it is read: what it compares is equal.
auto memcmp_of(const Version& copy) {
    return [&copy] {
        if (std::memcmp(before().data(), copy.data(), version_bytes) != 0)
            throw std::logic_error("a copy that is none");
    };
}

void compare(benchmark::State& state) {
    const Version copy = before(), changed = after(state.range(0));
    measure(state, "of_memcmp", memcmp_of(copy),
            [&] { benchmark::DoNotOptimize(count_changes(before(), changed)); });
}

void make(benchmark::State& state) {
    const Version copy = before(), changed = after(state.range(0));
    measure(state, "of_memcmp", memcmp_of(copy),
            [&] { benchmark::DoNotOptimize(make_delta(before(), changed).data()); });
}

void apply(benchmark::State& state) {
    const Version delta = make_delta(before(), after(state.range(0)));
    const nn::UntrustedFile file("in memory", delta);
    Version version = before();
    measure(
        state, "of_memcpy",
        [&] {
            std::memcpy(version.data(), before().data(), version_bytes);
            benchmark::ClobberMemory();
        },
        [&] {
            apply_delta(file, version);
            benchmark::ClobberMemory();
        });
}

// A fixed number of rounds: a round of the plain pass may take much longer than what is timed.
void rounds(benchmark::internal::Benchmark* benchmark) {
    benchmark->Iterations(10)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(compare)->Arg(0)->Arg(10)->Arg(100)->Arg(1000)->Apply(rounds);
BENCHMARK(make)->Arg(0)->Arg(10)->Arg(100)->Arg(1000)->Apply(rounds);
BENCHMARK(apply)->Arg(10)->Arg(100)->Arg(1000)->Apply(rounds);

}  // namespace
}  // namespace assay::weights

BENCHMARK_MAIN();
