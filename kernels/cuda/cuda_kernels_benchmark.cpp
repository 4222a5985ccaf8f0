// The CUDA kernels at LLaMA2-7B's shapes, bf16, against a read and a copy of device memory in the
// same run. Chains of layers with weights of their own, in CUDA graphs; 1.1 GB and more per replay,
// so that no cache helps. Names end in the sparsity in percent, or the batch.
//
//   ffn            gate, up, down at a sparsity; "with_router": the router as well
//   ffn_batch      batches of tokens that each use 50 % (or 10 %) of the experts: the union is read
//   cublas         the dense network, or active experts copied together and multiplied ("gathered")
//   gemv           one projection after the other, ours and cuBLAS's
//   llama2_7b      32 layers of attention projections, router and network, and the output matrix:
//                  a token's latency without attention itself, norms and residuals
#include <iostream>

#include "kernels/cuda/harness/dense_products.hpp"

namespace assay::kernels::cuda::harness {
namespace {

using benchmark::State;

double sparsity_of(const State& state) { return static_cast<double>(state.range(0)) / 100; }

void ffn(State& state, bool with_router) {
    const LayerShape shape;
    Chain chain(shape, layers_beyond_caches(shape, sparsity_of(state)), sparsity_of(state), 1);
    const int layers = static_cast<int>(chain.layers.size());
    const std::size_t bytes = chain.ffn_bytes() + (with_router ? chain.router_bytes() : 0);
    measure_chain(state, bytes, layers, [&] {
        for (int i = 0; i < layers; ++i) {
            if (with_router) chain.run_router(i);
            chain.run_ffn(i);
        }
    });
}

void ffn_batch(State& state, double sparsity) {
    const LayerShape shape;
    Chain chain(shape, layers_beyond_caches(shape, sparsity), sparsity,
                static_cast<int>(state.range(0)));
    const int layers = static_cast<int>(chain.layers.size());
    measure_chain(state, chain.ffn_bytes(), layers, [&] {
        for (int i = 0; i < layers; ++i) chain.run_ffn(i);
    });
    state.counters["union_sparsity"] = chain.union_sparsity();
}

void cublas_ffn(State& state, bool gathered) {
    const LayerShape shape;
    const double sparsity = gathered ? sparsity_of(state) : 0.0;
    Chain chain(shape, layers_beyond_caches(shape, sparsity), sparsity, 1);
    const int layers = static_cast<int>(chain.layers.size());
    DenseProducts products(shape, 1);
    // Bytes of the active weights, for all: what the copies move besides is the gather's loss.
    measure_chain(state, chain.ffn_bytes(), layers, [&] {
        for (const Layer& layer : chain.layers)
            gathered ? products.gathered_ffn(layer) : products.ffn(layer);
    });
}

void gemv(State& state, bool cublas) {
    LayerShape shape;
    const int rows = 11008, matrices = 13, batch = static_cast<int>(state.range(0));
    Chain chain(shape, 0, 0, batch);
    DenseProducts products(shape, batch);
    BenchDevice& device = BenchDevice::get();
    std::vector<DeviceArray<std::byte>> weights;
    for (int i = 0; i < matrices; ++i) weights.push_back(device.weights(shape.matrix_bytes()));
    const DeviceArray<float> y(static_cast<std::size_t>(rows * batch));
    const DeviceArray<std::uint16_t> x(
        std::vector<std::uint16_t>(static_cast<std::size_t>(shape.width * batch), 0x3e99));
    measure_chain(state, shape.matrix_bytes() * matrices, matrices, [&] {
        for (const DeviceArray<std::byte>& matrix : weights) {
            if (cublas)
                products.multiply(matrix.data(), rows, shape.width, x.data(), y.data());
            else
                chain.run_gemv(matrix, rows, y.data());
        }
    });
}

void llama2_7b(State& state) {
    const LayerShape shape;
    constexpr int layers = 32, vocabulary = 32000;
    BenchDevice& device = BenchDevice::get();
    Chain chain(shape, layers, sparsity_of(state), 1);
    const auto square =
        static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.width) * 2;
    std::vector<DeviceArray<std::byte>> queries_keys_values, outputs;
    for (int i = 0; i < layers; ++i) {
        queries_keys_values.push_back(device.weights(3 * square));
        outputs.push_back(device.weights(square));
    }
    const std::size_t head_bytes =
        static_cast<std::size_t>(vocabulary) * static_cast<std::size_t>(shape.width) * 2;
    const DeviceArray<std::byte> head = device.weights(head_bytes);
    const DeviceArray<float> y(static_cast<std::size_t>(vocabulary));
    const std::size_t bytes =
        chain.ffn_bytes() + chain.router_bytes() + layers * 4 * square + head_bytes;
    measure_chain(state, bytes, layers, [&] {
        for (int i = 0; i < layers; ++i) {
            const auto at = static_cast<std::size_t>(i);
            chain.run_gemv(queries_keys_values[at], 3 * shape.width, y.data());
            chain.run_gemv(outputs[at], shape.width, y.data());
            chain.run_router(i);
            chain.run_ffn(i);
        }
        chain.run_gemv(head, vocabulary, y.data());
    });
    const double token_s = state.counters["us_per_layer"].value * layers / 1e6;
    state.counters["ms_per_token"] = token_s * 1e3;
    state.counters["tokens/s"] = 1 / token_s;
}

template <class Function, class... Arguments>
benchmark::internal::Benchmark* add(const char* name, Function function, Arguments... arguments) {
    return benchmark::RegisterBenchmark(name,
                                        [=](State& state) {
                                            try {
                                                function(state, arguments...);
                                            } catch (const std::exception& error) {
                                                state.SkipWithError(error.what());
                                            }
                                        })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

void add_all() {
    for (const int sparsity : {0, 50, 75, 90}) {
        add("ffn", ffn, false)->Arg(sparsity);
        add("ffn/with_router", ffn, true)->Arg(sparsity);
        add("cublas/gathered", cublas_ffn, true)->Arg(sparsity);
    }
    add("cublas/dense", cublas_ffn, false);
    for (const int batch : {1, 2, 3, 4, 6, 8, 12, 16}) {
        add("ffn_batch/50", ffn_batch, 0.5)->Arg(batch);
        add("ffn_batch/90", ffn_batch, 0.9)->Arg(batch);
    }
    for (const int batch : {1, 4, 16}) {
        add("gemv/11008x4096", gemv, false)->Arg(batch);
        add("gemv/cublas/11008x4096", gemv, true)->Arg(batch);
    }
    for (const int sparsity : {0, 25, 50, 75, 90}) add("llama2_7b", llama2_7b)->Arg(sparsity);
}

}  // namespace
}  // namespace assay::kernels::cuda::harness

int main(int count, char** arguments) {
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
    try {
        assay::kernels::cuda::harness::BenchDevice::get();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 4;  // not supported here
    }
    assay::kernels::cuda::harness::add_all();
    benchmark::RunSpecifiedBenchmarks();
}
