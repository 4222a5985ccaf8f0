// Dense matrix times vector in libtorch (which takes oneDNN where that has a kernel), on the same
// shapes, against the same read ceiling.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/against_reading.hpp"
#include "kernels/reference/libtorch_weights.hpp"

namespace assay::kernels {
namespace {

void run(benchmark::State& state, AssayType type, int batch) {
    const c10::InferenceMode inference;
    constexpr int rows = 11008, columns = 4096;
    const std::size_t matrix = static_cast<std::size_t>(rows) * row_bytes(type, columns);
    const std::size_t matrices = 1'080'000'000 / matrix;
    const StreamedMemory weights = reference::streamed_weights(type, matrix * matrices);
    AssayContext context(instruction_set(widest_vectors(processor_bits())),
                         static_cast<int>(state.range(0)));
    at::set_num_threads(context.pool.threads());
    const at::Tensor x = at::ones({batch, columns}, reference::scalar_type(type));
    std::size_t next = 0;
    reference::measure_against_reading(state, context, matrix, [&] {
        const at::Tensor w =
            reference::as_tensor(weights.get() + next * matrix, type, rows, columns);
        next = (next + 1) % matrices;
        benchmark::DoNotOptimize(at::linear(x, w).data_ptr());
    });
}

[[maybe_unused]] const bool registered = [] {
    const auto add = [](const std::string& name, AssayType type, int batch) {
        auto* const added = benchmark::RegisterBenchmark(
            ("gemv/libtorch/" + name).c_str(),
            [type, batch](benchmark::State& state) { run(state, type, batch); });
        for (const std::int64_t threads : reference::thread_counts()) added->Arg(threads);
        added->UseManualTime()->Unit(benchmark::kMillisecond)->ArgName("threads");
    };
    add("f32/11008x4096", ASSAY_F32, 1);
    add("bf16/11008x4096", ASSAY_BF16, 1);
    add("bf16/11008x4096/batch:4", ASSAY_BF16, 4);
    add("bf16/11008x4096/batch:16", ASSAY_BF16, 16);
    return true;
}();

}  // namespace
}  // namespace assay::kernels
