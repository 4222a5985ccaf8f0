// The CUDA kernels at LLaMA2-7B's shapes, bf16, against a read and a copy of device memory in the
// same run. Chains of layers with weights of their own, in CUDA graphs; 1.1 GB and more per replay,
// so that no cache helps. Names end in the sparsity in percent, or the batch.
//
//   memory         a plain read, a plain copy (bytes read plus bytes written); of_peak: of what the
//                  memory's clock and width allow; "to_device", "from_device": over the link to the
//                  host
//   gemm           cuBLAS with many tokens; of_peak: of what the tensor cores do at their highest
//                  clock, where that is known
//   ffn            gate, up, down at a sparsity; "with_router": the router as well
//   ffn_batch      batches of tokens that each use 50 % (or 10 %) of the experts: the union is read
//   cublas         the dense network, or active experts copied together and multiplied ("gathered")
//   gemv           one projection after the other, ours and cuBLAS's; "rows": of so many rows
//   router         LLaMA2-7B's, out of the cache for a part: what its launch and its list take
//   llama2_7b      32 layers of attention projections, router and network, and the output matrix:
//                  a token's latency without attention itself, norms and residuals
//   dispatch       cuda_dispatch_benchmark.cpp
#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

#include "kernels/cuda/harness/dense_products.hpp"
#include "kernels/cuda/host/device_limits.hpp"

namespace assay::kernels::cuda::harness {
namespace {

using benchmark::State;

void memory(State& state, double (BenchDevice::*rate)(std::size_t)) {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    BenchDevice& device = BenchDevice::get();
    (device.*rate)(bytes);
    std::vector<double> rates;
    for ([[maybe_unused]] auto iteration : state) {
        rates.push_back((device.*rate)(bytes));
        state.SetIterationTime(static_cast<double>(bytes) / rates.back());
    }
    std::sort(rates.begin(), rates.end());
    const double middle = rates[rates.size() / 2];
    state.counters["GB/s"] = middle / 1e9;
    if (const double peak = memory_peak(BenchDevice::attribute(cudaDevAttrMemoryClockRate),
                                        BenchDevice::attribute(cudaDevAttrGlobalMemoryBusWidth));
        peak > 0)
        state.counters["of_peak"] = middle / peak;
}

/// From or to memory of the host that stays where it is.
void over_link(State& state, bool to_device) {
    constexpr std::size_t bytes = std::size_t{256} << 20;
    BenchDevice& device = BenchDevice::get();
    void* host = nullptr;
    must(cudaMallocHost(&host, bytes));
    const std::unique_ptr<void, cudaError_t (*)(void*)> owned(host, cudaFreeHost);
    const DeviceArray<std::byte> there(bytes);
    const auto copy = [&] {
        must(to_device
                 ? cudaMemcpyAsync(there.data(), host, bytes, cudaMemcpyHostToDevice, device.stream)
                 : cudaMemcpyAsync(host, there.data(), bytes, cudaMemcpyDeviceToHost,
                                   device.stream));
    };
    device.seconds(copy);
    std::vector<double> times;
    for ([[maybe_unused]] auto iteration : state) {
        times.push_back(device.seconds(copy));
        state.SetIterationTime(times.back());
    }
    std::sort(times.begin(), times.end());
    state.counters["GB/s"] = static_cast<double>(bytes) / times[times.size() / 2] / 1e9;
}

void gemm(State& state) {
    const LayerShape shape;
    constexpr int rows = 11008, at_once = 8;
    const int tokens = static_cast<int>(state.range(0));
    const auto size = [](int a, int b) {
        return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
    };
    BenchDevice& device = BenchDevice::get();
    DenseProducts products(shape, tokens);
    const DeviceArray<std::byte> weights = device.weights(shape.matrix_bytes());
    const DeviceArray<std::byte> x = device.weights(2 * size(tokens, shape.width));
    const DeviceArray<float> y(size(tokens, rows));
    const auto several = [&] {
        for (int i = 0; i < at_once; ++i)
            products.multiply(weights.data(), rows, shape.width,
                              reinterpret_cast<const std::uint16_t*>(x.data()), y.data());
    };
    device.seconds(several);  // what is done once
    std::vector<double> times;
    for ([[maybe_unused]] auto iteration : state) {
        times.push_back(device.seconds(several));
        state.SetIterationTime(times.back());
    }
    std::sort(times.begin(), times.end());
    const double operations = 2.0 * at_once * rows * shape.width * tokens;
    const double rate = operations / times[times.size() / 2];
    state.counters["TFLOP/s"] = rate / 1e12;
    if (const double peak =
            bf16_peak(BenchDevice::attribute(cudaDevAttrComputeCapabilityMajor),
                      BenchDevice::attribute(cudaDevAttrComputeCapabilityMinor),
                      device.multiprocessors, BenchDevice::attribute(cudaDevAttrClockRate));
        peak > 0)
        state.counters["of_peak"] = rate / peak;
}

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
                chain.run_gemv(matrix.data(), rows, y.data());
        }
    });
}

/// What a launch costs besides its rows.
void gemv_rows(State& state) {
    const LayerShape shape;
    const int rows = static_cast<int>(state.range(0));
    Chain chain(shape, 0, 0, 1);
    BenchDevice& device = BenchDevice::get();
    const std::size_t bytes =
        static_cast<std::size_t>(rows) * static_cast<std::size_t>(shape.width) * 2;
    const int matrices = std::max(8, static_cast<int>((std::size_t{1} << 29) / bytes));
    const DeviceArray<std::byte> weights =
        device.weights(bytes * static_cast<std::size_t>(matrices));
    const DeviceArray<float> y(static_cast<std::size_t>(rows));
    measure_chain(state, weights.bytes(), matrices, [&] {
        for (int i = 0; i < matrices; ++i)
            chain.run_gemv(weights.data() + static_cast<std::size_t>(i) * bytes, rows, y.data());
    });
}

void router(State& state) {
    const LayerShape shape;
    constexpr int layers = 8;
    Chain chain(shape, layers, 0, 1);
    measure_chain(state, chain.router_bytes() * 8, layers * 8, [&] {
        for (int i = 0; i < layers * 8; ++i) chain.run_router(i % layers);
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
            chain.run_gemv(queries_keys_values[at].data(), 3 * shape.width, y.data());
            chain.run_gemv(outputs[at].data(), shape.width, y.data());
            chain.run_router(i);
            chain.run_ffn(i);
        }
        chain.run_gemv(head.data(), vocabulary, y.data());
    });
    const double token_s = state.counters["us_per_layer"].value * layers / 1e6;
    state.counters["ms_per_token"] = token_s * 1e3;
    state.counters["tokens/s"] = 1 / token_s;
}

void add_all() {
    add("memory/read", memory, &BenchDevice::read_rate);
    add("memory/copy", memory, &BenchDevice::copy_rate);
    add("memory/to_device", over_link, true);
    add("memory/from_device", over_link, false);
    add("gemm/11008x4096", gemm)->Arg(4096);
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
    for (const int rows : {344, 1088, 2752, 5504, 11008}) add("gemv/rows", gemv_rows)->Arg(rows);
    add("router", router);
    for (const int sparsity : {0, 25, 50, 75, 90}) add("llama2_7b", llama2_7b)->Arg(sparsity);
    add_dispatch();
    add_row_scores();
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
