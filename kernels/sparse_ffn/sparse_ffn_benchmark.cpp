// The sparse FFN against the read ceiling: LLaMA2-7B's layer (SwiGLU, 4096 × 11008, experts of 32,
// bf16) at several sparsities, four layers of 270 MB in turn (working set 1.08 GB), other active
// experts in every call. And SmolLM2-135M's layer, thirty of them (159 MB).
#include <algorithm>
#include <numeric>

#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/against_reading.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/sparse_ffn/benchmark_layers.hpp"

namespace assay::kernels {
namespace {

using benchmark::State;
using reference::Layers;
using reference::LayerShape;

void run(State& state, const LayerShape& shape, const char* back_end, int batch) {
    const AssayKernels* const kernels = assay_cpu_kernels(back_end);
    if (!kernels) return state.SkipWithError("cannot run on this machine");
    const reference::Context context =
        reference::make_context(kernels, static_cast<int>(state.range(0)));
    const Layers& layers = Layers::of(shape);
    const double sparsity = static_cast<double>(state.range(1)) / 100;
    std::mt19937_64 random(3);
    const auto draws = reference::random_active_sets(shape.experts, sparsity, 16, random);
    const auto x = reference::random_floats(static_cast<std::size_t>(shape.width * batch), random);
    std::vector<float> y(x.size());

    AssaySparseFfn call{};
    call.ffn = layers.network(0);
    call.batch = batch;
    call.x = x.data();
    call.y = y.data();
    call.workspace_bytes = kernels->sparse_ffn_workspace(&call.ffn, batch);
    const StreamedMemory workspace = allocate_streamed(call.workspace_bytes);
    call.workspace = workspace.get();
    const auto count = static_cast<std::int32_t>(draws[0].size());
    call.active_count = &count;

    const std::size_t bytes_of_call = static_cast<std::size_t>(count) * layers.bytes_of_expert();
    // At least some 4 MB between two looks at the clock.
    const std::size_t calls = bytes_of_call ? 1 + 4'000'000 / bytes_of_call : 1;
    std::size_t round = 0;
    reference::measure_against_reading(state, *context, bytes_of_call * calls, [&] {
        for (std::size_t i = 0; i < calls; ++i, ++round) {
            call.ffn = layers.network(round % static_cast<std::size_t>(shape.layers));
            call.active = draws[round % draws.size()].data();
            if (kernels->sparse_ffn(context.get(), &call) != ASSAY_OK)
                return state.SkipWithError(kernels->last_error(context.get()));
        }
    });
    state.counters["layer_ms"] =
        static_cast<double>(bytes_of_call) / (state.counters["GB/s"].value * 1e6);
}

void add(const char* back_end, const LayerShape& shape, int batch) {
    const std::string name = std::string("sparse_ffn/") + back_end + "/" + shape.name +
                             "/batch:" + std::to_string(batch);
    auto* const added = benchmark::RegisterBenchmark(
        name.c_str(),
        [shape, back_end, batch](State& state) { run(state, shape, back_end, batch); });
    for (const std::int64_t threads : reference::thread_counts())
        for (const std::int64_t percent : {0, 50, 75, 90}) added->Args({threads, percent});
    added->ArgNames({"threads", "sparsity_percent"});
    added->UseManualTime()->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool registered = [] {
    for (const char* const back_end : {"cpu/avx512", "cpu/avx2", "cpu/portable"})
        for (const LayerShape& shape : {reference::llama_7b(ASSAY_BF16), reference::smollm()})
            add(back_end, shape, 1);
    add("cpu/avx512", reference::llama_7b(ASSAY_BF16), 4);
    add("cpu/avx512", reference::llama_7b(ASSAY_BF16), 16);
    add("cpu/avx512", reference::llama_7b(ASSAY_F32), 1);
    add("cpu/avx512", reference::llama_7b(ASSAY_F16), 1);
    return true;
}();

}  // namespace
}  // namespace assay::kernels

BENCHMARK_MAIN();
