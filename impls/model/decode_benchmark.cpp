// Decoding against the bytes-moved bound: a token and a plain read of as many bytes as it needs
// take turns on as many threads, so that both see the same machine. The model is the file that
// ASSAY_TEST_MODEL names, else one of SmolLM2-135M's shape with random weights.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/cpu/back_end.hpp"
#include "impls/model/named_models.hpp"
#include "kernels/cpu/streamed_memory.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::decode {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int prompt_tokens = 64, new_tokens = 128;

std::shared_ptr<CpuModel> model_in(WeightType weights) {
    if (const char* const path = std::getenv("ASSAY_TEST_MODEL"))
        return load_model(nn::TensorFile(path), {.weights = weights});
    const AssayType type = weights == WeightType::bf16 ? ASSAY_BF16 : ASSAY_Q4_1;
    const nn::DecoderConfig shape = model::named_shape("smollm2-135m");
    return std::make_shared<CpuModel>(CpuModel{shape, random_weights(shape, type, {}, 1), nullptr});
}

// Reads of memory far beyond the caches.
class Reader {
  public:
    explicit Reader(int threads) : pool_(threads), memory_(kernels::allocate_streamed(reserve)) {
        std::memset(memory_.get(), 1, reserve);
    }
    /// Seconds that reading so many bytes takes.
    double read(std::size_t bytes) {
        bytes =
            std::min(bytes / kernels::streamed_read_piece * kernels::streamed_read_piece, reserve);
        if (at_ + bytes > reserve) at_ = 0;
        const auto& instructions =
            kernels::instruction_set(kernels::widest_vectors(kernels::processor_bits()));
        const double seconds =
            kernels::streamed_read_seconds(pool_, instructions, memory_.get() + at_, bytes);
        at_ += bytes;
        return seconds / static_cast<double>(bytes);
    }

  private:
    static constexpr std::size_t reserve = std::size_t{512} * 1024 * 1024;
    kernels::WorkerPool pool_;
    kernels::StreamedMemory memory_;
    std::size_t at_ = 0;
};

void decode(benchmark::State& state, WeightType weights) {
    const int threads = static_cast<int>(state.range(0));
    BatchEngine engine(
        std::make_unique<CpuBackEnd>(
            model_in(weights),
            PassOptions{.blocks = blocks_for(prompt_tokens + new_tokens) + 1, .threads = threads}),
        {.max_batch = 1, .prefix = false});
    Reader reader(threads);
    BatchRequest request;
    request.prompt.assign(prompt_tokens, 5);
    request.max_tokens = new_tokens;
    StepReport report;
    std::vector<double> token_s, read_s_per_byte;
    std::uint64_t bytes = 0;
    for ([[maybe_unused]] auto iteration : state) {
        report.clear();
        if (engine.idle()) {
            engine.submit(request);
            while (report.tokens.empty()) engine.step(report);
            bytes = engine.back_end().step_bytes();
        }
        read_s_per_byte.push_back(reader.read(bytes));
        const Clock::time_point start = Clock::now();
        engine.step(report);
        token_s.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        bytes = engine.back_end().step_bytes();
        state.SetIterationTime(token_s.back());
    }
    const double token = statistics::median(token_s), read = statistics::median(read_s_per_byte);
    state.counters["tokens/s"] = 1 / token;
    state.counters["MB/token"] = static_cast<double>(bytes) / 1e6;
    state.counters["read_GB/s"] = 1e-9 / read;
    state.counters["of_bound"] = static_cast<double>(bytes) * read / token;
}

[[maybe_unused]] const bool registered = [] {
    for (const auto& [name, weights] :
         {std::pair{"decode/stored", WeightType::stored}, {"decode/bf16", WeightType::bf16}}) {
        auto* const added = benchmark::RegisterBenchmark(
            name, [weights = weights](benchmark::State& state) { decode(state, weights); });
        for (int threads = 1; threads <= kernels::allowed_cores(); threads *= 2)
            added->Arg(threads);
        added->UseManualTime()->Unit(benchmark::kMillisecond)->ArgName("threads");
    }
    return true;
}();

}  // namespace
}  // namespace assay::decode

BENCHMARK_MAIN();
