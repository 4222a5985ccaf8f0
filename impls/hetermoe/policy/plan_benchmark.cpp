// How long planning takes, and how it grows with GPUs and layers: every group, every number of
// micro-batches, every schedule. 64 + 64 GPUs, 64 layers, 128 experts: under a second.
#include <benchmark/benchmark.h>

#include "impls/hetermoe/policy/plan.hpp"

namespace assay::hetermoe {
namespace {

TrainingProfile profile_of(int gpus, int layers) {
    TrainingProfile profile;
    profile.layers = layers;
    profile.experts = 128;
    profile.micro_batches = {2, 4, 8, 16};
    profile.new_kind = {.gpus = gpus,
                        .attention = 10'123'000,
                        .expert = 13'000'100,
                        .head = 4'000'000,
                        .capacity = 300};
    profile.old_kind = {.gpus = gpus,
                        .attention = 22'000'000,
                        .expert = 16'000'000,
                        .head = 0,
                        .capacity = 64 * layers};
    profile.exchange = 3'000'000;
    profile.dense_sync = 20'000'000;
    profile.expert_sync = 1'000'000;
    return profile;
}

void plan_all(benchmark::State& state, Asym asym) {
    const TrainingProfile profile =
        profile_of(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
    for (auto _ : state) benchmark::DoNotOptimize(plan(profile, {.asym = asym}));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    for (const int gpus : {8, 64}) {
        for (const int layers : {8, 64}) benchmark->Args({gpus, layers});
    }
    benchmark->ArgNames({"gpus", "layers"})->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(plan_all, published, Asym::published)->Apply(sizes);
BENCHMARK_CAPTURE(plan_all, search, Asym::search)->Apply(sizes);

}  // namespace
}  // namespace assay::hetermoe

BENCHMARK_MAIN();
