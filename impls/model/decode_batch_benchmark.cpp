// Many sequences side by side: 128 tokens of prompt and 128 more of each, as llama-batched-bench
// runs them with -npp 128 -ntg 128 -npl BATCH. Beside each run, on as many threads: a plain read of
// what a step reads, and the bare int8 dot products of vectors that a step needs; `of_least` is the
// bound that the slower of the two sets, over the step's time. (Tiles may pass that of vectors;
// rows of bf16 are multiplied in fp32, of which the dots say nothing.) Every number is the best of
// all iterations, since other work on the machine only ever takes time away. The last cases run
// with the next loops instead of the processor's fastest.
//
// The model is the file that ASSAY_TEST_MODEL names, else one of SmolLM2-135M's shape with random
// weights. With a file, and where scripts/peers has built it, fresh processes of llama.cpp run in
// turns with ours: `over_peer`, `prefill_over_peer`.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "impls/decode/cpu/back_end.hpp"
#include "impls/decode/experiments/peers.hpp"
#include "impls/model/named_models.hpp"
#include "kernels/cpu/streamed_memory.hpp"

namespace assay::decode {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int prompt_tokens = 128, new_tokens = 128;
constexpr int blocks_of_sequence = (prompt_tokens + new_tokens) / block_positions;

const char* model_path() { return std::getenv("ASSAY_TEST_MODEL"); }

std::shared_ptr<CpuModel> model_in(WeightType weights) {
    if (model_path()) return load_model(nn::TensorFile(model_path()), {.weights = weights});
    const AssayType type = weights == WeightType::bf16 ? ASSAY_BF16 : ASSAY_Q4_1;
    return load_model(*random_source(type, 1), model::named_shape("smollm2-135m"));
}

/// In the file's type, or in bf16; loaded once.
std::shared_ptr<CpuModel> model(WeightType weights) {
    static std::map<WeightType, std::shared_ptr<CpuModel>> loaded;
    std::shared_ptr<CpuModel>& one = loaded[weights];
    if (!one) one = model_in(weights);
    return one;
}

/// Seconds of a plain read, and of int8 dot products, on all threads of a pool.
class Bounds {
  public:
    explicit Bounds(int threads) : pool_(threads), memory_(kernels::allocate_streamed(reserve)) {
        std::memset(memory_.get(), 1, reserve);
    }
    double read(std::uint64_t bytes) {
        const auto& instructions =
            kernels::instruction_set(kernels::widest_vectors(kernels::processor_bits()));
        return kernels::streamed_read_seconds(pool_, instructions, memory_.get(), reserve) *
               static_cast<double>(bytes) / static_cast<double>(reserve);
    }
    double multiply(const Loops& loops, double pairs) {
        constexpr int dots = 400'000;
        const int items = 4 * pool_.threads();
        const Clock::time_point start = Clock::now();
        pool_.run(items, [&](int) {
            const std::int8_t digits[digit_block] = {1, 2, 3};
            benchmark::DoNotOptimize(loops.bare_dots(memory_.get(), digits, dots));
        });
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        return seconds * pairs / (64.0 * dots * items);
    }

  private:
    static constexpr std::size_t reserve = std::size_t{256} * 1024 * 1024;
    kernels::WorkerPool pool_;
    kernels::StreamedMemory memory_;
};

/// A batch that is fed its prompts, 64 tokens a step, and goes on greedily.
class Batch {
  public:
    Batch(int size, WeightType weights, const PassOptions& options)
        : back_end_(model(weights), options), ids_(size) {
        for (int s = 0; s < size; ++s) {
            blocks_.emplace_back(blocks_of_sequence);
            std::iota(blocks_.back().begin(), blocks_.back().end(), s * blocks_of_sequence);
        }
    }
    double prefill() {
        std::vector<int> prompt(prompt_tokens, 5);
        double seconds = 0;
        for (std::size_t s = 0; s < blocks_.size(); ++s)
            for (int at = 0; at < prompt_tokens; at += largest_pass)
                seconds += step(
                    {{.ids = std::span(prompt).subspan(static_cast<std::size_t>(at), largest_pass),
                      .first_position = at,
                      .blocks = blocks_[s],
                      .picks = at + largest_pass == prompt_tokens}},
                    s);
        return seconds;
    }
    double decode(int position) {
        std::vector<Slice> slices;
        for (std::size_t s = 0; s < blocks_.size(); ++s)
            slices.push_back({.ids = {&ids_[s], 1},
                              .first_position = position,
                              .blocks = blocks_[s],
                              .picks = true});
        return step(slices, 0);
    }
    const CpuBackEnd& back_end() const { return back_end_; }

  private:
    double step(const std::vector<Slice>& slices, std::size_t first) {
        outcomes_.resize(slices.size());
        back_end_.run(slices, outcomes_);
        for (std::size_t i = 0; i < slices.size(); ++i)
            if (slices[i].picks) ids_[first + i] = outcomes_[i].id;
        return back_end_.step_seconds();
    }

    CpuBackEnd back_end_;
    std::vector<std::vector<int>> blocks_;
    std::vector<int> ids_;
    std::vector<Outcome> outcomes_;
};

struct Speed {
    double prefill = 0, decode = 0;  ///< tokens per second
    void take_better(const Speed& other) {
        prefill = std::max(prefill, other.prefill);
        decode = std::max(decode, other.decode);
    }
};

struct Kept {
    std::string name;
    ActivationType activations;
    KvType kv;
    WeightType weights = WeightType::stored;
    const Loops* loops = nullptr;  ///< the fastest unless given
};

void run(benchmark::State& state, const Kept& kept) {
    const int size = static_cast<int>(state.range(0)), threads = static_cast<int>(state.range(1));
    Batch batch(size, kept.weights,
                {.blocks = size * blocks_of_sequence,
                 .threads = threads,
                 .kv = kept.kv,
                 .activations = kept.activations,
                 .loops = kept.loops});
    Bounds bounds(threads);
    const nn::DecoderConfig& config = batch.back_end().model().config;
    const double pairs = static_cast<double>(config.parameters()) * size;

    Speed ours, theirs;
    double step_s = 1e9, read_s = 1e9, dots_s = 1e9;
    for ([[maybe_unused]] auto iteration : state) {
        dots_s = std::min(dots_s, bounds.multiply(kept.loops ? *kept.loops : loops(), pairs));
        const double prefill_s = batch.prefill();
        std::vector<double> steps;
        std::uint64_t half_way_bytes = 0;
        for (int i = 0; i < new_tokens; ++i) {
            steps.push_back(batch.decode(prompt_tokens + i));
            if (i == new_tokens / 2) half_way_bytes = batch.back_end().step_bytes();
        }
        read_s = std::min(read_s, bounds.read(half_way_bytes));
        const double decode_s = std::accumulate(steps.begin(), steps.end(), 0.0);
        // The median, as the bytes are those of a step half-way.
        std::nth_element(steps.begin(), steps.begin() + new_tokens / 2, steps.end());
        step_s = std::min(step_s, steps[new_tokens / 2]);
        ours.take_better({size * prompt_tokens / prefill_s, size * new_tokens / decode_s});
        if (model_path() && kept.weights == WeightType::stored && !kept.loops &&
            peer_program(Peer::llama_cpp)) {
            const PeerSpeed peer = run_peer(Peer::llama_cpp, {.model = model_path(),
                                                              .batch = size,
                                                              .threads = threads,
                                                              .prompt = prompt_tokens,
                                                              .tokens = new_tokens});
            theirs.take_better({peer.prefill_tokens_per_s, peer.tokens_per_s});
        }
        state.SetIterationTime(decode_s);
    }
    state.counters["tokens/s"] = ours.decode;
    state.counters["prefill/s"] = ours.prefill;
    state.counters["step_ms"] = 1e3 * step_s;
    state.counters["of_bytes"] = read_s / step_s;
    state.counters["of_dots"] = dots_s / step_s;
    state.counters["of_least"] = std::max(read_s, dots_s) / step_s;
    if (theirs.decode == 0) return;
    state.counters["over_peer"] = ours.decode / theirs.decode;
    state.counters["prefill_over_peer"] = ours.prefill / theirs.prefill;
}

[[maybe_unused]] const bool registered = [] {
    std::vector<Kept> all{{"batch/exact", ActivationType::exact, KvType::f32},
                          {"batch/int8", ActivationType::int8, KvType::bf16},
                          {"batch/int8/kv_f32", ActivationType::int8, KvType::f32},
                          {"batch/bf16", ActivationType::exact, KvType::f32, WeightType::bf16}};
    // What the fastest loops gain over the next.
    if (const auto loops = all_loops(); loops.size() > 1) {
        const Loops* const next = loops[loops.size() - 2];
        for (const std::size_t i : {0, 1}) {
            all.push_back(all[i]);
            all.back().name += std::string("/") + next->name;
            all.back().loops = next;
        }
    }
    for (const Kept& kept : all) {
        auto* const added = benchmark::RegisterBenchmark(
            kept.name.c_str(), [kept](benchmark::State& state) { run(state, kept); });
        for (const int batch : {1, 4, 16, 32}) added->Args({batch, kernels::allowed_cores()});
        added->ArgNames({"batch", "threads"})->UseManualTime()->Unit(benchmark::kMillisecond);
    }
    return true;
}();

}  // namespace
}  // namespace assay::decode

BENCHMARK_MAIN();
