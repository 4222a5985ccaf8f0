// What a change of flows costs, by how many are under way: one ends and another begins, two
// changes.
//
//     pairs      two flows share a link, and with all others one that has no limit
//     one_link   all share one link: every change is another rate for each
//     ports      each over two of so many ports as there are flows, drawn by lot: most are
//     connected
//
// Counter: changes per second.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "suite/drive/simulated/fair_flows.hpp"

namespace {

using assay::drive::FairFlows;

constexpr double bandwidth = 1e9;

/// `links_of(i)`: of the flow that takes place i. None comes to its end.
template <class LinksOf>
void change(benchmark::State& state, FairFlows& flows, LinksOf links_of) {
    std::vector<FairFlows::Flow> under_way;
    for (int i = 0; i < state.range(0); ++i) under_way.push_back(flows.begin(links_of(i), 1e15));
    std::mt19937 random(1);
    for (auto _ : state) {
        const auto i = random() % under_way.size();
        flows.advance(flows.now() + 1e-6);
        benchmark::DoNotOptimize(flows.end(under_way[i]));
        under_way[i] = flows.begin(links_of(static_cast<int>(i)), 1e15);
    }
    state.counters["changes"] = benchmark::Counter(2.0 * static_cast<double>(state.iterations()),
                                                   benchmark::Counter::kIsRate);
}

void pairs(benchmark::State& state) {
    FairFlows flows;
    for (int i = 0; i < state.range(0); ++i) flows.add_link(bandwidth);
    const int of_all = flows.add_link(FairFlows::no_limit);
    change(state, flows, [&](int i) { return std::vector{i / 2, of_all}; });
}

void one_link(benchmark::State& state) {
    FairFlows flows;
    const std::vector link = {flows.add_link(bandwidth)};
    change(state, flows, [&](int) { return link; });
}

void ports(benchmark::State& state) {
    FairFlows flows;
    const auto workers = static_cast<unsigned>(state.range(0));
    for (unsigned i = 0; i < 2 * workers; ++i) flows.add_link(bandwidth);
    std::mt19937 random(2);
    change(state, flows, [&](int) {
        const unsigned from = random() % workers, to = random() % workers;
        return std::vector{static_cast<int>(2 * from), static_cast<int>(2 * to + 1)};
    });
}

BENCHMARK(pairs)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(one_link)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(ports)->Arg(10)->Arg(100)->Arg(1000);

}  // namespace

BENCHMARK_MAIN();
