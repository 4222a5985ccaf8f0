// What virtual time costs, on SimGrid and beside it on a queue of events, and how far the closed
// forms of collectives are from flows.
//
//     node_steps     one piece of work and a barrier per node and step; items are node-steps
//     transfers      so many flows under way all the time, each to the next node; items are flows
//     difference     an all-to-all or all-reduce as flows: how long it takes to find out, and the
//                    counters flows_ms, closed_ms, off_percent = flows / closed form - 1
//
// SimGrid's engine can be built once per process: each measurement runs in one of its own.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <random>

#include "suite/drive/simgrid/flow_network.hpp"
#include "suite/drive/simgrid/simgrid_time.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "tests/drive/simgrid/own_process.hpp"
#include "tests/drive/simgrid/small_networks.hpp"

namespace {

using namespace assay;
using namespace assay::drive;
using testing::in_own_process;

double seconds_of(const std::function<void()>& work) {
    const auto from = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

/// The work of rank r in a step takes 1 + r / 1000 s; when all are done the next step begins.
void run_steps(
    VirtualTime& time, int nodes, int steps,
    const std::function<void(int node, double seconds, const std::function<void()>&)>& compute) {
    int left = 0;
    std::function<void()> begin_step;
    const std::function<void()> done = [&] {
        if (--left == 0) begin_step();
    };
    begin_step = [&] {
        if (steps-- == 0) return;
        left = nodes;
        for (int node = 0; node < nodes; ++node) compute(node, 1 + node * 1e-3, done);
    };
    begin_step();
    while (time.next()) {
    }
}

constexpr int node_steps = 1 << 19;

void node_steps_on_simgrid(benchmark::State& state) {
    const int nodes = static_cast<int>(state.range(0)), steps = node_steps / nodes;
    for (auto _ : state) {
        const auto seconds = in_own_process([&]() -> std::vector<double> {
            SimGridTime time(
                std::make_shared<RankFlows>(Topology(testing::one_switch(1e9)), nodes));
            return {seconds_of([&] {
                run_steps(time, nodes, steps, [&](int node, double s, const auto& done) {
                    time.compute(node, s, [&](SimGridTime::End) { done(); });
                });
            })};
        });
        state.SetIterationTime(seconds.at(0));
    }
    state.SetItemsProcessed(state.iterations() * nodes * steps);
}

void node_steps_on_events(benchmark::State& state) {
    const int nodes = static_cast<int>(state.range(0)), steps = node_steps / nodes;
    for (auto _ : state) {
        EventQueue time;
        state.SetIterationTime(seconds_of([&] {
            run_steps(time, nodes, steps,
                      [&](int, double s, const auto& done) { time.after(s, [&] { done(); }); });
        }));
    }
    state.SetItemsProcessed(state.iterations() * nodes * steps);
}

void transfers(benchmark::State& state) {
    const int nodes = static_cast<int>(state.range(0)), total = nodes < 4096 ? 1 << 17 : 1 << 15;
    for (auto _ : state) {
        const auto seconds = in_own_process([&]() -> std::vector<double> {
            SimGridTime time(
                std::make_shared<RankFlows>(Topology(testing::one_switch(1e9, 1e-5)), nodes));
            int left = total;
            const std::function<void(int)> send = [&](int from) {
                if (left-- <= 0) return;
                time.flow(from, (from + 1) % nodes, 1e6 + 100 * from,
                          [&, from](SimGridTime::End) { send(from); });
            };
            return {seconds_of([&] {
                for (int node = 0; node < nodes; ++node) send(node);
                while (time.next()) {
                }
            })};
        });
        state.SetIterationTime(seconds.at(0));
    }
    state.SetItemsProcessed(state.iterations() * total);
}

enum class Traffic { even, random, hot_receivers, all_reduce };

/// 8 MB per message on average; of hot receivers the first gets half of all, the next a quarter, ….
std::vector<double> bytes_of(Traffic traffic, int ranks) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> size(0, 2);
    std::vector<double> bytes;
    for (int from = 0; from < ranks; ++from)
        for (int to = 0; to < ranks; ++to) {
            const double share = traffic == Traffic::random          ? size(random)
                                 : traffic == Traffic::hot_receivers ? ranks * std::pow(0.5, to + 1)
                                                                     : 1;
            bytes.push_back(std::round(8e6 * share));
        }
    return bytes;
}

void difference(benchmark::State& state, const ClusterProfile& cluster, int ranks, Traffic traffic,
                int messages_at_once) {
    for (auto _ : state) {
        const auto numbers = in_own_process([&]() -> std::vector<double> {
            const Topology topology(cluster);
            const FlowNetwork flows(std::make_shared<RankFlows>(topology, ranks),
                                    {.messages_at_once = messages_at_once});
            const ClosedForm closed_form(topology);
            const auto price = [&](const Network& network) {
                if (traffic == Traffic::all_reduce) return network.all_reduce(1e9, ranks);
                return network.all_to_all(bytes_of(traffic, ranks), ranks);
            };
            double flows_s = 0;
            const double took_s = seconds_of([&] { flows_s = price(flows); });
            return {took_s, flows_s, price(closed_form)};
        });
        state.SetIterationTime(numbers.at(0));
        state.counters["flows_ms"] = 1e3 * numbers.at(1);
        state.counters["closed_ms"] = 1e3 * numbers.at(2);
        // Rounding errors are not what this is about.
        state.counters["off_percent"] = std::round(1e6 * (numbers.at(1) / numbers.at(2) - 1)) / 1e4;
    }
}

void register_differences() {
    struct Where {
        const char* name;
        ClusterProfile cluster;
        int ranks;
    };
    const testing::ServerShape server = {.nodes = 4,
                                         .ranks = 8,
                                         .inside = 360e9,
                                         .outside = 40e9,
                                         .inside_latency_s = 3e-6,
                                         .outside_latency_s = 1e-5};
    auto server_with_8 = server;
    server_with_8.nics = 8;
    const testing::RackShape rack = {.racks = 4,
                                     .nodes = 8,
                                     .outside = 5e9,
                                     .outside_latency_s = 1e-5,
                                     .uplink_latency_s = 5e-6};
    const auto oversubscribed = [&](double times) {
        auto shape = rack;
        shape.uplink = rack.nodes * rack.outside / times;
        return testing::racks(shape);
    };
    const std::vector<Where> places = {
        {"switch_10", testing::one_switch(4.375e9, 3e-5), 10},
        {"switch_32", testing::one_switch(5e9, 1e-5), 32},
        {"switch_64", testing::one_switch(5e9, 1e-5), 64},
        {"servers_4x8_1_nic", testing::servers(server), 32},
        {"servers_4x8_8_nics", testing::servers(server_with_8), 32},
        {"racks_4x8_at_1", oversubscribed(1), 32},
        {"racks_4x8_at_4", oversubscribed(4), 32},
    };
    const std::pair<const char*, Traffic> kinds[] = {{"even", Traffic::even},
                                                     {"random", Traffic::random},
                                                     {"hot_receivers", Traffic::hot_receivers},
                                                     {"all_reduce", Traffic::all_reduce}};
    for (const Where& place : places)
        for (const auto& [kind, traffic] : kinds)
            for (const int at_once : {1, 8}) {
                if (traffic == Traffic::all_reduce && at_once > 1) continue;
                const std::string how = traffic == Traffic::all_reduce
                                            ? ""
                                            : "/" + std::to_string(at_once) + "_at_once";
                benchmark::RegisterBenchmark(
                    ("difference/" + std::string(place.name) + "/" + kind + how).c_str(),
                    [place, traffic = traffic, at_once](benchmark::State& state) {
                        difference(state, place.cluster, place.ranks, traffic, at_once);
                    })
                    ->UseManualTime()
                    ->Iterations(1)
                    ->Unit(benchmark::kMillisecond);
            }
}

BENCHMARK(node_steps_on_simgrid)
    ->Name("node_steps/simgrid")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1024)
    ->Arg(4096)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(node_steps_on_events)
    ->Name("node_steps/events")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1024)
    ->Arg(4096)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(transfers)->Arg(10)->Arg(100)->Arg(1024)->Arg(4096)->UseManualTime()->Unit(
    benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
    if (const auto reason = flow_engine_lacks()) {
        std::fprintf(stderr, "%s\n", reason->c_str());
        return 4;
    }
    register_differences();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
