// The router against the read ceiling: 344 experts of width 4096 in bf16, 128 routers in turn
// (working set 361 MB).
#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/against_reading.hpp"
#include "kernels/reference/random_problem.hpp"

namespace assay::kernels {
namespace {

void run(benchmark::State& state) {
    const AssayKernels* const kernels = assay_cpu_kernels(nullptr);
    const reference::Context context =
        reference::make_context(kernels, static_cast<int>(state.range(0)));
    constexpr int width = 4096, experts = 344, routers = 128, calls = 4;
    const std::size_t bytes = experts * row_bytes(ASSAY_BF16, width);
    const StreamedMemory weights = reference::streamed_weights(ASSAY_BF16, bytes * routers);
    std::mt19937_64 random(2);
    const int batch = static_cast<int>(state.range(1));
    const auto x = reference::random_floats(static_cast<std::size_t>(width * batch), random);
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(experts * batch));
    std::vector<std::int32_t> active(experts);
    std::int32_t count = 0;
    std::size_t next = 0;
    reference::measure_against_reading(state, *context, bytes * calls, [&] {
        for (int i = 0; i < calls; ++i, next = (next + 1) % routers) {
            const AssayRouter call{width,         experts, ASSAY_BF16, weights.get() + next * bytes,
                                   0.0f,          batch,   x.data(),   mask.data(),
                                   active.data(), &count};
            if (kernels->router(context.get(), &call) != ASSAY_OK)
                return state.SkipWithError(kernels->last_error(context.get()));
        }
    });
}

[[maybe_unused]] const bool registered = [] {
    auto* const added = benchmark::RegisterBenchmark("router/bf16/344x4096", run);
    for (const std::int64_t threads : reference::thread_counts())
        for (const std::int64_t batch : {1, 4}) added->Args({threads, batch});
    added->ArgNames({"threads", "batch"})->UseManualTime()->Unit(benchmark::kMicrosecond);
    return true;
}();

}  // namespace
}  // namespace assay::kernels

BENCHMARK_MAIN();
