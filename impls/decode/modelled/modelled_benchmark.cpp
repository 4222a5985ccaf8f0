// How many tokens a second an engine makes in virtual time, and so what scheduling costs.
//
//     build/cpu/bin/decode_modelled_benchmark
//
// tokens: of processor time. jumping: steps that differ in nothing but their tokens are made in one
// go; goal 20 million a second. stepping: one at a time, as beside a real back end.
#include <benchmark/benchmark.h>

#include <memory>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/modelled/modelled_back_end.hpp"

namespace assay::decode {
namespace {

constexpr int prompt_tokens = 32, new_tokens = 4000;

void decode_batch(benchmark::State& state, int most) {
    const auto batch = static_cast<int>(state.range(0));
    std::size_t tokens = 0;
    StepReport report;
    for (auto _ : state) {
        state.PauseTiming();
        BatchEngine engine(
            std::make_unique<ModelledBackEnd>(ModelledSettings{
                .vocabulary = 49152, .context = 8192, .blocks = batch * (new_tokens / 16 + 4)}),
            {.max_batch = batch});
        for (int i = 0; i < batch; ++i) {
            BatchRequest request;
            for (int k = 0; k < prompt_tokens; ++k)
                request.prompt.push_back((i * 7919 + k * 31) % 49152);
            request.max_tokens = new_tokens;
            request.stop_ids = {0};
            engine.submit(request);
        }
        state.ResumeTiming();
        while (!engine.idle()) {
            report.clear();
            engine.step(report, most);
            tokens += report.tokens.size();
        }
    }
    state.counters["tokens"] =
        benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate);
}

void jumping(benchmark::State& state) { decode_batch(state, 1 << 20); }
void stepping(benchmark::State& state) { decode_batch(state, 1); }
BENCHMARK(jumping)->Arg(1)->Arg(32)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(stepping)->Arg(1)->Arg(32)->Arg(256)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::decode

BENCHMARK_MAIN();
