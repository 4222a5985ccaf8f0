#include "kernels/cuda/harness/bench_layers.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/random_weights.hpp"
#include "kernels/cuda/plugin/memory_passes.hpp"
#include "kernels/plugin/cuda_plugin.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels::cuda::harness {
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
    multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    reserve_ = weights(reserve_bytes);
}

int BenchDevice::attribute(cudaDeviceAttr which) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess) return value;
    static_cast<void>(cudaGetLastError());
    return 0;
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
    static const std::vector<std::byte> pattern = random_weight_pattern(ASSAY_BF16, 1);
    DeviceArray<std::byte> array(bytes);
    std::size_t filled = std::min(bytes, pattern.size());
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

namespace {

std::size_t product(int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

AssayFfn network(const LayerShape& shape, const Layer* layer) {
    AssayFfn ffn{};
    ffn.width = shape.width;
    ffn.experts = shape.experts;
    ffn.expert_size = shape.expert_size;
    ffn.type = ASSAY_BF16;
    ffn.activation = ASSAY_SWIGLU;
    if (layer) {
        ffn.gate = layer->gate.data();
        ffn.up = layer->up.data();
        ffn.down = layer->down.data();
    }
    return ffn;
}

}  // namespace

std::size_t LayerShape::expert_bytes() const {
    return expert_matrix_bytes(network(*this, nullptr));
}
std::size_t LayerShape::router_bytes() const {
    return kernels::router_bytes(network(*this, nullptr));
}

Routing draw_routing(const LayerShape& shape, double sparsity, int batch, std::mt19937_64& random) {
    const auto experts = static_cast<std::size_t>(shape.experts);
    const auto inactive = static_cast<std::size_t>(std::lround(sparsity * shape.experts));
    std::vector<std::uint8_t> mask, any(experts, 0);
    for (int token = 0; token < batch; ++token) {
        std::vector<std::uint8_t> row(experts, 1);
        std::fill_n(row.begin(), inactive, std::uint8_t{0});
        std::shuffle(row.begin(), row.end(), random);
        for (std::size_t e = 0; e < experts; ++e) any[e] |= row[e];
        mask.insert(mask.end(), row.begin(), row.end());
    }
    std::vector<std::int32_t> active;
    for (std::size_t e = 0; e < experts; ++e)
        if (any[e]) active.push_back(static_cast<std::int32_t>(e));
    Routing routing;
    routing.active_experts = static_cast<int>(active.size());
    active.resize(experts, 0);
    routing.mask = DeviceArray<std::uint8_t>(mask);
    routing.active = DeviceArray<std::int32_t>(active);
    routing.count = DeviceArray<std::int32_t>(std::vector<std::int32_t>{routing.active_experts});
    return routing;
}

Chain::Chain(const LayerShape& shape, int layer_count, double sparsity, int batch)
    : shape(shape), batch(batch) {
    BenchDevice& device = BenchDevice::get();
    std::mt19937_64 random(7);
    for (int i = 0; i < layer_count; ++i) {
        Layer layer;
        for (DeviceArray<std::byte>* matrix : {&layer.gate, &layer.up, &layer.down})
            *matrix = device.weights(shape.matrix_bytes());
        layer.router = device.weights(shape.router_bytes());
        layer.routing = draw_routing(shape, sparsity, batch, random);
        layer.routed_mask = DeviceArray<std::uint8_t>(product(batch, shape.experts));
        layer.routed = DeviceArray<std::int32_t>(static_cast<std::size_t>(shape.experts));
        layer.routed_count = DeviceArray<std::int32_t>(1);
        layers.push_back(std::move(layer));
    }
    x_ = DeviceArray<float>(reference::random_floats(product(batch, shape.width), random));
    y_ = DeviceArray<float>(product(batch, shape.width));
    const AssayFfn ffn = network(shape, nullptr);
    workspace_ = DeviceArray<std::byte>(device.kernels.sparse_ffn_workspace(&ffn, batch));
}

void Chain::run_router(int index) {
    BenchDevice& device = BenchDevice::get();
    const Layer& layer = layers[static_cast<std::size_t>(index)];
    const AssayRouter call{shape.width,
                           shape.experts,
                           ASSAY_BF16,
                           layer.router.data(),
                           0.0f,
                           batch,
                           x_.data(),
                           layer.routed_mask.data(),
                           layer.routed.data(),
                           layer.routed_count.data()};
    device.must_be_ok(device.kernels.router(device.context.get(), &call));
}

void Chain::run_ffn(int index) {
    BenchDevice& device = BenchDevice::get();
    const Layer& layer = layers[static_cast<std::size_t>(index)];
    const AssaySparseFfn call{network(shape, &layer),
                              batch,
                              x_.data(),
                              layer.routing.active.data(),
                              layer.routing.count.data(),
                              layer.routing.mask.data(),
                              y_.data(),
                              workspace_.data(),
                              workspace_.bytes()};
    device.must_be_ok(device.kernels.sparse_ffn(device.context.get(), &call));
}

void Chain::run_gemv(const std::byte* weights, int rows, float* y) {
    BenchDevice& device = BenchDevice::get();
    const AssayGemv call{rows, shape.width, ASSAY_BF16, weights, nullptr, batch, x_.data(), y};
    device.must_be_ok(device.kernels.gemv(device.context.get(), &call));
}

std::size_t Chain::ffn_bytes() const {
    std::size_t experts = 0;
    for (const Layer& layer : layers)
        experts += static_cast<std::size_t>(layer.routing.active_experts);
    return 3 * experts * shape.expert_bytes();
}

double Chain::union_sparsity() const {
    double active = 0;
    for (const Layer& layer : layers) active += layer.routing.active_experts;
    return 1 -
           active / static_cast<double>(product(shape.experts, static_cast<int>(layers.size())));
}

int layers_beyond_caches(const LayerShape& shape, double sparsity) {
    const double bytes = 3 * static_cast<double>(shape.matrix_bytes()) * (1 - sparsity);
    return std::clamp(static_cast<int>(std::ceil(1.1e9 / bytes)), 4, 48);
}

}  // namespace assay::kernels::cuda::harness
