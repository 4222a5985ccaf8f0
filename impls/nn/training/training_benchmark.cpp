// Steps per second of a byte-level toy decoder, and of SmolLM2's shape (a minute, 8 GB): what a
// training on this machine costs.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "impls/nn/training/language_model.hpp"

namespace {

using namespace assay::nn;

// Text enough for windows; what it says does not matter for speed.
TokenData some_bytes(int context) {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += static_cast<char>('a' + i * i % 26);
    return TokenData::from_text(text, Tokenizer::bytes(), 0.1, context);
}

void time_steps(benchmark::State& state, const DecoderConfig& config,
                const LanguageModelTraining& training) {
    at::set_num_threads(2);
    Decoder decoder(config, 1);
    DenseFeedForward dense;
    const auto data = some_bytes(config.context);
    NoState none;
    train_language_model("warm", decoder, dense, data, training, none);
    for (auto _ : state) train_language_model("timed", decoder, dense, data, training, none);
    state.counters["steps"] =
        benchmark::Counter(static_cast<double>(state.iterations() * training.options.steps),
                           benchmark::Counter::kIsRate);
}

void toy_step(benchmark::State& state, Activation activation, at::ScalarType compute) {
    DecoderConfig config;  // 4 layers, width 128, hidden 512, 4 heads, context 128, bytes
    config.activation = activation;
    LanguageModelTraining training;
    training.compute = compute;
    training.options.steps = 5;
    time_steps(state, config, training);
}

BENCHMARK_CAPTURE(toy_step, swiglu_fp32, Activation::swiglu, at::kFloat)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(toy_step, swiglu_bf16, Activation::swiglu, at::kBFloat16)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(toy_step, gelu_fp32, Activation::gelu, at::kFloat)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(toy_step, gelu_bf16, Activation::gelu, at::kBFloat16)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// SmolLM2-135M's shape, eight sequences of 256 tokens, in bf16.
void smollm2_step(benchmark::State& state) {
    DecoderConfig config;
    config.layers = 30;
    config.width = 576;
    config.hidden = 1536;
    config.heads = 9;
    config.kv_heads = 3;
    config.head_width = 64;
    config.vocabulary = 49152;
    config.context = 256;
    LanguageModelTraining training;
    training.compute = at::kBFloat16;
    training.sequences = 8;
    training.options.steps = 3;
    time_steps(state, config, training);
}
BENCHMARK(smollm2_step)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(2);

}  // namespace

BENCHMARK_MAIN();
