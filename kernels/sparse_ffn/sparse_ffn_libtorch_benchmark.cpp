// What libtorch needs for the same layer: dense (all neurons), and "indexing", which gathers the
// active neurons' rows into new matrices and multiplies these (the rival of LTE's figure 8). The
// bytes counted are those of the active neurons; what gathering writes and reads again is its loss.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "kernels/reference/against_reading.hpp"
#include "kernels/reference/libtorch_weights.hpp"
#include "kernels/sparse_ffn/benchmark_layers.hpp"

namespace assay::kernels {
namespace {

using reference::Layers;
using reference::LayerShape;

at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& up,
                        const at::Tensor& down) {
    return at::matmul(at::mul(at::silu(at::linear(x, gate)), at::linear(x, up)), down);
}

/// The rows of the active experts' neurons.
at::Tensor neurons_of(const std::vector<std::int32_t>& experts, int expert_size) {
    std::vector<std::int64_t> rows;
    for (const std::int64_t expert : experts)
        for (int neuron = 0; neuron < expert_size; ++neuron)
            rows.push_back(expert * expert_size + neuron);
    return at::from_blob(rows.data(), {static_cast<std::int64_t>(rows.size())}, at::kLong).clone();
}

void run(benchmark::State& state, const LayerShape& shape, bool indexing) {
    const c10::InferenceMode inference;
    const Layers& layers = Layers::of(shape);
    AssayContext context(instruction_set(widest_vectors(processor_bits())),
                         static_cast<int>(state.range(0)));
    at::set_num_threads(context.pool.threads());
    std::mt19937_64 random(3);
    const double sparsity = indexing ? static_cast<double>(state.range(1)) / 100 : 0.0;
    const auto sets = reference::random_active_sets(shape.experts, sparsity, 16, random);
    std::vector<at::Tensor> rows;
    for (const auto& set : sets) rows.push_back(neurons_of(set, shape.expert_size));
    const at::Tensor x = at::ones({1, shape.width}, reference::scalar_type(shape.type));
    const std::size_t bytes = sets[0].size() * layers.bytes_of_expert();

    std::size_t round = 0;
    reference::measure_against_reading(state, context, bytes, [&] {
        at::Tensor weights[3];
        for (int which = 0; which < 3; ++which) {
            weights[which] = reference::as_tensor(
                layers.matrix(round % static_cast<std::size_t>(shape.layers), which), shape.type,
                shape.neurons(), shape.width);
            if (indexing) weights[which] = weights[which].index_select(0, rows[round % 16]);
        }
        ++round;
        benchmark::DoNotOptimize(feed_forward(x, weights[0], weights[1], weights[2]).data_ptr());
    });
    state.counters["layer_ms"] = static_cast<double>(bytes) / (state.counters["GB/s"].value * 1e6);
}

[[maybe_unused]] const bool registered = [] {
    const LayerShape shape = reference::llama_7b(ASSAY_BF16);
    for (const bool indexing : {false, true}) {
        const std::string name =
            std::string("sparse_ffn/libtorch_") + (indexing ? "indexing/" : "dense/") + shape.name;
        auto* const added = benchmark::RegisterBenchmark(
            name.c_str(), [=](benchmark::State& state) { run(state, shape, indexing); });
        added->UseManualTime()->Unit(benchmark::kMillisecond);
        for (const std::int64_t threads : reference::thread_counts())
            for (const std::int64_t percent : {0, 50, 75, 90})
                if (indexing || percent == 0) added->Args({threads, percent});
        added->ArgNames({"threads", "sparsity_percent"});
    }
    return true;
}();

}  // namespace
}  // namespace assay::kernels
