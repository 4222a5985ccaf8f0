// How long planning takes, and how it grows: allocation and placement, recovery probability,
// dispatch, node mapping with transfers. The paper states under 100 ms for ten nodes and under 1 s
// for 1,000 GPUs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/beyond/guarded_placement.hpp"
#include "impls/lazarus/policy/controller/reconfiguration.hpp"
#include "impls/lazarus/policy/controller/strategy.hpp"
#include "impls/lazarus/policy/dispatch/rank_layout.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/node_mapping.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "impls/lazarus/policy/plan/transfer_plan.hpp"

namespace assay::lazarus {
namespace {

constexpr int slots = 6, min_replicas = 2;

// Skewed like a real layer: a few experts take most tokens. Small clusters get as many slots as it
// takes.
Loads skewed_loads(int experts, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    Loads loads;
    for (int e = 0; e < experts; ++e) {
        loads.push_back(
            static_cast<Tokens>(1 + (random() % 1000) * (random() % 1000) / (1 + random() % 100)));
    }
    return loads;
}

int slots_for(int nodes, int experts) {
    const int needed = (min_replicas * experts + nodes - 1) / nodes;
    return needed > slots ? needed : slots;
}

void plan_one_layer(benchmark::State& state) {
    const int nodes = static_cast<int>(state.range(0)), experts = static_cast<int>(state.range(1));
    const Loads loads = skewed_loads(experts);
    for (auto _ : state) {
        const Allocation allocation =
            allocate(loads, nodes, slots_for(nodes, experts), min_replicas);
        benchmark::DoNotOptimize(place(PlacementPolicy::mro, allocation.replicas, nodes,
                                       slots_for(nodes, experts), loads));
    }
    state.SetComplexityN(nodes);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    for (int experts : {8, 32, 128, 256}) {
        for (int nodes : {10, 64, 256, 1024, 4096}) benchmark->Args({nodes, experts});
    }
    benchmark->ArgNames({"nodes", "experts"})->Unit(benchmark::kMillisecond);
}
BENCHMARK(plan_one_layer)->Apply(sizes);

// Growth in one variable at a time, the other one fixed.
void plan_by_nodes(benchmark::State& state) { plan_one_layer(state); }
BENCHMARK(plan_by_nodes)
    ->ArgsProduct({{64, 128, 256, 512, 1024, 2048, 4096}, {64}})
    ->ArgNames({"nodes", "experts"})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

void plan_by_experts(benchmark::State& state) {
    plan_one_layer(state);
    state.SetComplexityN(state.range(1));
}
BENCHMARK(plan_by_experts)
    ->ArgsProduct({{1024}, {8, 16, 32, 64, 128, 256}})
    ->ArgNames({"nodes", "experts"})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

// Overlap repaired where its last group is cut short. Even loads on these shapes are; of the skewed
// ones some are whole, and cost what overlap costs. The label says which.
void plan_guarded(benchmark::State& state, bool even) {
    const int nodes = static_cast<int>(state.range(0)), experts = static_cast<int>(state.range(1));
    const Loads loads = even ? Loads(static_cast<std::size_t>(experts), 1) : skewed_loads(experts);
    const int c = slots_for(nodes, experts);
    const Replicas replicas = allocate(loads, nodes, c, min_replicas).replicas;
    bool dominates = false;
    for (auto _ : state) {
        const GuardedPlacement plan = guarded_placement(replicas, nodes, c, loads);
        dominates = plan.dominates;
        benchmark::DoNotOptimize(plan.placement.data());
    }
    state.SetLabel(std::string(mro_truncated(replicas, nodes, c) ? "cut" : "whole") +
                   (dominates ? ", dominates" : ", not shown to dominate"));
}
BENCHMARK_CAPTURE(plan_guarded, even, true)
    ->ArgsProduct({{10, 16, 64, 256, 1024, 4096}, {8, 16, 32, 64, 256}})
    ->ArgNames({"nodes", "experts"})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_guarded, skewed, false)
    ->ArgsProduct({{10, 16, 64, 256, 1024, 4096}, {8, 16, 32, 64, 256}})
    ->ArgNames({"nodes", "experts"})
    ->Unit(benchmark::kMillisecond);

void recovery(benchmark::State& state, PlacementPolicy policy) {
    const int nodes = static_cast<int>(state.range(0)), experts = static_cast<int>(state.range(1));
    const Loads loads = skewed_loads(experts);
    const int c = slots_for(nodes, experts);
    const Placement placement =
        place(policy, allocate(loads, nodes, c, min_replicas).replicas, nodes, c, loads);
    RecoveryMethod method = RecoveryMethod::exact;
    for (auto _ : state) {
        const RecoveryCurve curve = recovery_probability(placement, experts);
        method = curve.method;
        benchmark::DoNotOptimize(curve.probability.data());
    }
    state.SetLabel(std::string(to_string(method)));
}
BENCHMARK_CAPTURE(recovery, mro, PlacementPolicy::mro)->Apply(sizes);
BENCHMARK_CAPTURE(recovery, spread, PlacementPolicy::spread)->Apply(sizes);
BENCHMARK_CAPTURE(recovery, compact, PlacementPolicy::compact)->Apply(sizes);

void dispatch(benchmark::State& state) {
    const int ranks = static_cast<int>(state.range(0)), experts = static_cast<int>(state.range(1));
    const int c = slots_for(ranks, experts);
    const Loads loads = skewed_loads(experts);
    const Placement holders = place(
        PlacementPolicy::mro, allocate(loads, ranks, c, min_replicas).replicas, ranks, c, loads);
    const std::vector<int> replicas = replica_counts(holders, experts);
    std::mt19937_64 random(3);
    std::vector<Tokens> tokens;
    for (int e = 0; e < experts; ++e) {
        for (int rank = 0; rank < ranks; ++rank) {
            const Tokens mean = 1 + loads[static_cast<std::size_t>(e)] / ranks;
            tokens.push_back(static_cast<Tokens>(random() % static_cast<std::uint64_t>(2 * mean)));
        }
    }
    DispatchPlan plan;
    RankLayout layout;
    for (auto _ : state) {
        plan_dispatch(tokens, replicas, experts, ranks, plan);
        rank_layout(plan, 0, layout);
        benchmark::DoNotOptimize(layout.send.data());
    }
    state.SetComplexityN(ranks);
}
BENCHMARK(dispatch)
    ->ArgsProduct({{4, 8, 16, 32, 64, 128}, {8, 32, 128}})
    ->ArgNames({"ranks", "experts"})
    ->Unit(benchmark::kMicrosecond);

// ---- after a failure: the paper's GPT-L and a model of DeepSeek-V3's width ---------------------

constexpr int layers = 12;

void shapes(benchmark::internal::Benchmark* benchmark) {
    for (auto [experts, per_node] : {std::pair{16, 6}, {256, 32}}) {
        for (int nodes : {10, 100, 1024, 4096}) benchmark->Args({nodes, experts, per_node});
    }
    benchmark->ArgNames({"nodes", "experts", "slots"})->Unit(benchmark::kMillisecond);
}

std::vector<Loads> model_loads(int experts, std::uint64_t seed) {
    std::vector<Loads> loads;
    for (std::uint64_t layer = 0; layer < layers; ++layer)
        loads.push_back(skewed_loads(experts, seed * layers + layer));
    return loads;
}

// Who holds what once node 3 of one plan has died, and the plan for the survivors.
struct Failure {
    explicit Failure(const benchmark::State& state)
        : nodes(static_cast<int>(state.range(0))),
          experts(static_cast<int>(state.range(1))),
          per_node(std::max(static_cast<int>(state.range(2)),
                            (min_replicas * experts + nodes - 2) / (nodes - 1))),
          held(plan(nodes, 0).placement),
          next(plan(nodes - 1, 1).placement) {
        for (Placement& layer : held) layer.erase(layer.begin() + 3);
    }

    ModelPlan plan(int on, std::uint64_t seed) const {
        return make_model_plan(model_loads(experts, seed), on, per_node, min_replicas,
                               PlacementPolicy::mro);
    }

    int nodes, experts, per_node;
    ModelPlacement held, next;
};

void map_one_layer(benchmark::State& state) {
    const Failure failure(state);
    for (auto _ : state) benchmark::DoNotOptimize(map_nodes(failure.held[0], failure.next[0]));
}
BENCHMARK(map_one_layer)->Apply(shapes);

void map_jointly(benchmark::State& state) {
    const Failure failure(state);
    for (auto _ : state) benchmark::DoNotOptimize(map_nodes_jointly(failure.held, failure.next));
}
BENCHMARK(map_jointly)->Apply(shapes);

void transfers(benchmark::State& state) {
    const Failure failure(state);
    const ModelPlacement needed = map_layers(failure.held, failure.next);
    std::size_t count = 0;
    for (auto _ : state) count = plan_transfers(failure.held, needed).size();
    state.counters["transfers"] = static_cast<double>(count);
}
BENCHMARK(transfers)->Apply(shapes);

// What the controller does: everything from the survivors' holdings to the new epoch.
void replan(benchmark::State& state) {
    const Failure failure(state);
    const ControllerConfig config{.layers = layers,
                                  .experts = failure.experts,
                                  .slots = failure.per_node,
                                  .min_replicas = min_replicas};
    const auto strategy = make_strategy(config);
    std::vector<Worker> survivors(static_cast<std::size_t>(failure.nodes) - 1);
    std::iota(survivors.begin(), survivors.end(), 0);
    Holdings holdings(layers, failure.experts);
    holdings.assign(survivors, failure.held);
    const std::vector<Loads> loads = model_loads(failure.experts, 1);
    for (auto _ : state) {
        benchmark::DoNotOptimize(plan_reconfiguration(*strategy, survivors, survivors, holdings,
                                                      loads,
                                                      /*from_storage=*/false));
    }
}
BENCHMARK(replan)->Apply(shapes);

}  // namespace
}  // namespace assay::lazarus

BENCHMARK_MAIN();
