// What an engine's steps take beyond those of its back end, on the processor: planning, the tree of
// prefixes, notes of tokens, requests that come and go. Both are timed in the same steps.
//
//     ASSAY_TEST_MODEL=FILE build/cpu/bin/decode_scheduling_benchmark
//
// There are always four more requests than the batch takes; half of a prompt is the same in all.
// Without ASSAY_TEST_MODEL weights are random, of SmolLM2-135M's shape. `share`, of the time of all
// steps: goal below 0.01.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/cpu/back_end.hpp"
#include "impls/model/named_models.hpp"
#include "impls/nn/files/tensor_file.hpp"

namespace assay::decode {
namespace {

constexpr int prompt_tokens = 64, new_tokens = 48, waiting = 4;

std::shared_ptr<CpuModel> model() {
    static const std::shared_ptr<CpuModel> loaded = [] {
        if (const char* const path = std::getenv("ASSAY_TEST_MODEL"))
            return load_model(nn::TensorFile(path), {});
        return load_model(*random_source(ASSAY_Q4_1, 1), model::named_shape("smollm2-135m"));
    }();
    return loaded;
}

class Requests {
  public:
    BatchRequest next() {
        BatchRequest request;
        for (int i = 0; i < prompt_tokens; ++i)
            request.prompt.push_back(i < prompt_tokens / 2 ? i + 100
                                                           : static_cast<int>(random_() % 30000));
        request.max_tokens = new_tokens / 2 + static_cast<int>(random_() % new_tokens);
        request.stop_ids = {2};
        return request;
    }

  private:
    std::mt19937_64 random_{1};
};

void schedule(benchmark::State& state) {
    using Clock = std::chrono::steady_clock;
    const auto batch = static_cast<int>(state.range(0));
    const int blocks = (batch + waiting) * (blocks_for(prompt_tokens + 2 * new_tokens) + 1);
    BatchEngine engine(std::make_unique<CpuBackEnd>(model(), PassOptions{.blocks = blocks}),
                       {.max_batch = batch});
    Requests requests;
    for (int i = 0; i < batch + waiting; ++i) engine.submit(requests.next());
    StepReport report;
    double all_s = 0, back_end_s = 0;
    std::int64_t steps = 0;
    for ([[maybe_unused]] auto iteration : state) {
        const Clock::time_point start = Clock::now();
        report.clear();
        engine.step(report);
        for (std::size_t i = 0; i < report.ended.size(); ++i) engine.submit(requests.next());
        const double step_s = std::chrono::duration<double>(Clock::now() - start).count();
        state.SetIterationTime(step_s);
        all_s += step_s;
        back_end_s += engine.back_end().step_seconds();
        ++steps;
    }
    state.counters["scheduling_us"] = 1e6 * (all_s - back_end_s) / static_cast<double>(steps);
    state.counters["share"] = (all_s - back_end_s) / all_s;
}
BENCHMARK(schedule)
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Arg(32)
    ->Arg(64)
    ->ArgName("batch")
    ->UseManualTime()
    ->MinTime(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::decode

BENCHMARK_MAIN();
