#include "kernels/cuda/gpu/bench_device.hpp"

#include <algorithm>
#include <bit>

#include "kernels/cuda/gpu/memory_passes.hpp"
#include "kernels/plugin/cuda_plugin.hpp"

namespace assay::kernels::cuda::gpu {
namespace {

constexpr std::size_t reserve_bytes = std::size_t{2} << 30;

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

BenchDevice& BenchDevice::get() {
    static BenchDevice device;
    return device;
}

BenchDevice::BenchDevice()
    : kernels(cuda_kernels()),
      context(kernels.create(0, 0, stream.handle), reference::DestroyContext{&kernels}),
      sink_(1) {
    if (!context) throw std::runtime_error(kernels.last_error(nullptr));
    must(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    reserve_ = weights(reserve_bytes);
}

void BenchDevice::must_be_ok(AssayStatus status) const {
    if (status != ASSAY_OK) throw std::runtime_error(kernels.last_error(context.get()));
}

double BenchDevice::seconds(const std::function<void()>& work) {
    must(cudaEventRecord(begin_, stream));
    work();
    must(cudaEventRecord(end_, stream));
    must(cudaEventSynchronize(end_));
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds / 1e3;
}

const void* BenchDevice::next_piece(std::size_t bytes) {
    if (at_ + bytes > reserve_bytes) at_ = 0;
    const void* const piece = reserve_.data() + at_;
    at_ += bytes;
    return piece;
}

double BenchDevice::read_rate(std::size_t bytes) {
    bytes = std::clamp<std::size_t>(bytes / 4096 * 4096, std::size_t{64} << 20, reserve_bytes);
    const void* const from = next_piece(bytes);
    return static_cast<double>(bytes) /
           seconds([&] { read_memory(from, bytes, sink_.data(), multiprocessors, stream); });
}

double BenchDevice::copy_rate(std::size_t bytes) {
    bytes =
        std::clamp<std::size_t>(bytes / 2 / 4096 * 4096, std::size_t{64} << 20, reserve_bytes / 2);
    return 2 * static_cast<double>(bytes) / seconds([&] {
               must(cudaMemcpyAsync(reserve_.data(), reserve_.data() + reserve_bytes / 2, bytes,
                                    cudaMemcpyDeviceToDevice, stream));
           });
}

DeviceArray<std::byte> BenchDevice::weights(std::size_t bytes) {
    static const std::vector<std::uint16_t> pattern = [] {
        std::vector<std::uint16_t> values(std::size_t{1} << 19);
        std::mt19937_64 random(1);
        std::uniform_real_distribution<float> uniform(-0x1p-6f, 0x1p-6f);
        for (std::uint16_t& value : values)
            value = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(uniform(random)) >> 16);
        return values;
    }();
    DeviceArray<std::byte> array(bytes);
    std::size_t filled = std::min(bytes, pattern.size() * 2);
    must(cudaMemcpy(array.data(), pattern.data(), filled, cudaMemcpyHostToDevice));
    while (filled < bytes) {
        const std::size_t more = std::min(filled, bytes - filled);
        must(cudaMemcpy(array.data() + filled, array.data(), more, cudaMemcpyDeviceToDevice));
        filled += more;
    }
    must(cudaDeviceSynchronize());
    return array;
}

void measure_chain(benchmark::State& state, std::size_t bytes, int layers,
                   const std::function<void()>& work) {
    BenchDevice& device = BenchDevice::get();
    work();  // loads what is loaded lazily, outside the capture
    must(cudaStreamSynchronize(device.stream));
    Graph graph(device.stream, work);
    for (int warm_up = 0; warm_up < 3; ++warm_up) graph.replay();
    std::vector<double> chain_s, read_rates, copy_rates;
    for ([[maybe_unused]] auto iteration : state) {
        read_rates.push_back(device.read_rate(bytes));
        copy_rates.push_back(device.copy_rate(bytes));
        chain_s.push_back(device.seconds([&] { graph.replay(); }));
        state.SetIterationTime(chain_s.back());
    }
    const double rate = static_cast<double>(bytes) / median(chain_s);
    const double read = median(read_rates), copy = median(copy_rates);
    state.counters["GB/s"] = rate / 1e9;
    state.counters["read_GB/s"] = read / 1e9;
    state.counters["copy_GB/s"] = copy / 1e9;
    state.counters["of_read"] = rate / read;
    state.counters["of_copy"] = rate / copy;
    state.counters["us_per_layer"] = median(chain_s) * 1e6 / layers;
    state.counters["layers"] = layers;
}

}  // namespace assay::kernels::cuda::gpu
