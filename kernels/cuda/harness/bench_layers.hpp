// What every GPU benchmark needs: the plug-in and a context, ceilings measured in the same run,
// times of graph replays, and the layers that are timed.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <random>
#include <string>

#include "kernels/cuda/harness/device_array.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::kernels::cuda::harness {

class BenchDevice {
  public:
    /// Throws where there is no plug-in or no device; the sentence says why.
    static BenchDevice& get();

    const AssayKernels& kernels;
    Stream stream;
    reference::Context context;
    int multiprocessors = 0;

    /// One of the device's numbers; 0 where it says none.
    static int attribute(cudaDeviceAttr which);
    /// Throws last_error() unless the call succeeded.
    void must_be_ok(AssayStatus status) const;
    /// Seconds that the device takes for work on the stream.
    double seconds(const std::function<void()>& work);
    /// One read of device memory far beyond the cache, of about as many bytes; in bytes per second.
    double read_rate(std::size_t bytes);
    /// The same for a copy; bytes read plus bytes written.
    double copy_rate(std::size_t bytes);

    /// Random bf16 weights (kernels/cpu/random_weights.hpp).
    DeviceArray<std::byte> weights(std::size_t bytes);

  private:
    BenchDevice();
    const void* next_piece(std::size_t bytes);
    Event begin_, end_;
    DeviceArray<std::byte> reserve_;
    DeviceArray<std::uint32_t> sink_;
    std::size_t at_ = 0;
};

/// Replays a captured chain of `layers` equal layers that together move `bytes`, in turns with a
/// read and a copy. Counters: GB/s, read_GB/s, copy_GB/s, of_read and of_copy (ratios of medians),
/// us_per_layer. work() puts the chain on the device's stream.
void measure_chain(benchmark::State& state, std::size_t bytes, int layers,
                   const std::function<void()>& work);

/// Registers function(state, arguments…), whose exceptions become the benchmark's error.
template <class Function, class... Arguments>
benchmark::internal::Benchmark* add(const std::string& name, Function function,
                                    Arguments... arguments) {
    return benchmark::RegisterBenchmark(name.c_str(),
                                        [=](benchmark::State& state) {
                                            try {
                                                function(state, arguments...);
                                            } catch (const std::exception& error) {
                                                state.SkipWithError(error.what());
                                            }
                                        })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}
/// Those of cuda_dispatch_benchmark.cpp.
void add_dispatch();
/// Those of cuda_row_scores_benchmark.cpp.
void add_row_scores();

// Layers of a feed-forward network with weights of their own in device memory, and random sets of
// active experts of exactly the sparsity that is asked for.

/// LLaMA2-7B's: 344 experts of 32 neurons of width 4096.
struct LayerShape {
    int width = 4096, experts = 344, expert_size = neurons_per_expert;

    std::size_t expert_bytes() const;  ///< of one of gate, up, down, in bf16
    std::size_t matrix_bytes() const { return expert_bytes() * static_cast<std::size_t>(experts); }
    std::size_t router_bytes() const;
};

/// Some tokens' experts, in one layer.
struct Routing {
    DeviceArray<std::uint8_t> mask;  ///< [batch][experts]
    DeviceArray<std::int32_t> active, count;
    int active_experts = 0;  ///< the union
};
/// Each token draws its experts by itself.
Routing draw_routing(const LayerShape& shape, double sparsity, int batch, std::mt19937_64& random);

struct Layer {
    DeviceArray<std::byte> gate, up, down, router;
    Routing routing;
    DeviceArray<std::uint8_t> routed_mask;  ///< where the router writes, unused after
    DeviceArray<std::int32_t> routed, routed_count;
};

/// A chain of layers, one after the other on the stream. All read the same x, so that its size
/// stays what it is without norms.
class Chain {
  public:
    Chain(const LayerShape& shape, int layers, double sparsity, int batch);

    void run_router(int layer);
    void run_ffn(int layer);
    /// y[batch][rows], of weights in bf16.
    void run_gemv(const std::byte* weights, int rows, float* y);

    /// Of the active experts in every layer, gate, up and down.
    std::size_t ffn_bytes() const;
    std::size_t router_bytes() const { return shape.router_bytes() * layers.size(); }
    /// Share of experts that no token uses, over all layers.
    double union_sparsity() const;

    LayerShape shape;
    int batch;
    std::vector<Layer> layers;

  private:
    DeviceArray<float> x_, y_;  ///< [batch][width]
    DeviceArray<std::byte> workspace_;
};

/// As many layers as read a gigabyte at this sparsity, 4 to 48, so that no cache holds them.
int layers_beyond_caches(const LayerShape& shape, double sparsity);

}  // namespace assay::kernels::cuda::harness
