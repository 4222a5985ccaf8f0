// How many plans a second the model of a step goes through: mixed ones, drawn before.
//
//     build/cpu/bin/plato_plans_benchmark
//
// items_per_second: plans of processor time; goal 5,000.
#include <benchmark/benchmark.h>

#include "impls/plato/plans/plan_sets.hpp"
#include "impls/plato/simulated/step_model.hpp"

namespace assay::plato {
namespace {

constexpr int plans_of_a_set = 200;

void schedule_plans(benchmark::State& state, Mode mode, KvReuse reuse, Order order) {
    const auto plans = draw_plans(plan_shape("mixed"), plans_of_a_set, 1);
    const StepCosts costs{.step_ms = 21, .sequence_ms = 2.6, .prefill_ms = 2.5};
    double sum_ms = 0;
    for (auto _ : state)
        for (const PlanRecord& plan : plans)
            sum_ms +=
                schedule(plan, costs, {.mode = mode, .reuse = reuse, .order = order}).makespan_ms;
    benchmark::DoNotOptimize(sum_ms);
    state.SetItemsProcessed(state.iterations() * plans_of_a_set);
}

BENCHMARK_CAPTURE(schedule_plans, plato_L2, Mode::plato, KvReuse::prefix, Order::path);
BENCHMARK_CAPTURE(schedule_plans, plato_L2_prefix, Mode::plato, KvReuse::prefix, Order::prefix);
BENCHMARK_CAPTURE(schedule_plans, plato_L3, Mode::plato, KvReuse::linked, Order::path);
BENCHMARK_CAPTURE(schedule_plans, sot_L2, Mode::sot, KvReuse::prefix, Order::path);
BENCHMARK_CAPTURE(schedule_plans, waves_L2, Mode::waves, KvReuse::prefix, Order::path);

}  // namespace
}  // namespace assay::plato

BENCHMARK_MAIN();
