// What every GPU benchmark needs: the plug-in and a context, ceilings measured in the same run, and
// times of graph replays.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <random>

#include "kernels/cuda/gpu/device_array.hpp"
#include "kernels/reference/context_owner.hpp"

namespace assay::kernels::cuda::gpu {

class BenchDevice {
  public:
    /// Throws where there is no plug-in or no device; the sentence says why.
    static BenchDevice& get();

    const AssayKernels& kernels;
    Stream stream;
    reference::Context context;
    int multiprocessors = 0;

    /// Throws last_error() unless the call succeeded.
    void must_be_ok(AssayStatus status) const;
    /// Seconds that the device takes for work on the stream.
    double seconds(const std::function<void()>& work);
    /// One read of device memory far beyond the cache, of about as many bytes; in bytes per second.
    double read_rate(std::size_t bytes);
    /// The same for a copy; bytes read plus bytes written.
    double copy_rate(std::size_t bytes);

    /// Random bf16 weights of magnitude below 2^-6 that repeat one random megabyte: as good as
    /// random for speed.
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

}  // namespace assay::kernels::cuda::gpu
