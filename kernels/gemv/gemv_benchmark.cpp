// GEMV against the read ceiling. Weights of 1.1 GB and more are gone through in turn, so that
// nothing comes from a cache; the shapes of SmolLM2-135M take the whole model's 134 MB (f16) or
// less in turn.
#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/against_reading.hpp"
#include "kernels/reference/random_problem.hpp"

namespace assay::kernels {
namespace {

using benchmark::State;

struct Case {
    const char* name;
    AssayType type;
    int rows, columns, batch;
    std::size_t working_set;
};

void run(State& state, const Case& c, const char* back_end) {
    const AssayKernels* const kernels = assay_cpu_kernels(back_end);
    if (!kernels) return state.SkipWithError("cannot run on this machine");
    const reference::Context context =
        reference::make_context(kernels, static_cast<int>(state.range(0)));
    const std::size_t matrix = static_cast<std::size_t>(c.rows) * row_bytes(c.type, c.columns);
    const std::size_t matrices = (c.working_set + matrix - 1) / matrix;
    const StreamedMemory weights = reference::streamed_weights(c.type, matrix * matrices);
    std::mt19937_64 random(2);
    const auto x = reference::random_floats(static_cast<std::size_t>(c.columns * c.batch), random);
    std::vector<float> y(static_cast<std::size_t>(c.rows * c.batch));

    // At least some 4 MB between two looks at the clock.
    const std::size_t calls = std::max<std::size_t>(1, 4'000'000 / matrix);
    std::size_t next = 0;
    reference::measure_against_reading(state, *context, matrix * calls, [&] {
        for (std::size_t i = 0; i < calls; ++i, next = (next + 1) % matrices) {
            const AssayGemv call{c.rows,  c.columns, c.type,   weights.get() + next * matrix,
                                 nullptr, c.batch,   x.data(), y.data()};
            if (kernels->gemv(context.get(), &call) != ASSAY_OK)
                return state.SkipWithError(kernels->last_error(context.get()));
        }
    });
}

constexpr std::size_t large = 1'080'000'000, small = 100'000'000;
constexpr Case cases[] = {
    {"f32/11008x4096", ASSAY_F32, 11008, 4096, 1, large},
    {"f16/11008x4096", ASSAY_F16, 11008, 4096, 1, large},
    {"bf16/11008x4096", ASSAY_BF16, 11008, 4096, 1, large},
    {"bf16/11008x4096/batch:4", ASSAY_BF16, 11008, 4096, 4, large},
    {"bf16/11008x4096/batch:16", ASSAY_BF16, 11008, 4096, 16, large},
    {"q8_0/11008x4096", ASSAY_Q8_0, 11008, 4096, 1, large},
    {"q4_0/11008x4096", ASSAY_Q4_0, 11008, 4096, 1, large},
    {"q4_1/11008x4096", ASSAY_Q4_1, 11008, 4096, 1, large},
    {"q4_1/11008x4096/batch:4", ASSAY_Q4_1, 11008, 4096, 4, large},
    {"q8_0/49152x576", ASSAY_Q8_0, 49152, 576, 1, small},
    {"q4_1/192x576", ASSAY_Q4_1, 192, 576, 1, small},
    {"q4_1/576x576", ASSAY_Q4_1, 576, 576, 1, small},
    {"q4_1/1536x576", ASSAY_Q4_1, 1536, 576, 1, small},
    {"q4_1/576x1536", ASSAY_Q4_1, 576, 1536, 1, small},
};

[[maybe_unused]] const bool registered = [] {
    const auto add = [](const Case& c, const char* back_end) {
        const std::string name = std::string("gemv/") + back_end + "/" + c.name;
        auto* const added = benchmark::RegisterBenchmark(
            name.c_str(), [&c, back_end](State& state) { run(state, c, back_end); });
        for (const std::int64_t threads : reference::thread_counts()) added->Arg(threads);
        added->UseManualTime()->Unit(benchmark::kMillisecond)->ArgName("threads");
    };
    for (const char* const back_end : {"cpu/avx512", "cpu/avx2", "cpu/portable"})
        for (const Case& c : cases) add(c, back_end);
    return true;
}();

}  // namespace
}  // namespace assay::kernels

BENCHMARK_MAIN();
