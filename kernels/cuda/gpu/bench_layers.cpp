#include "kernels/cuda/gpu/bench_layers.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/reference/floats.hpp"

namespace assay::kernels::cuda::gpu {
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

std::size_t LayerShape::expert_bytes() const { return product(expert_size, width) * 2; }
std::size_t LayerShape::router_bytes() const { return product(experts, width) * 2; }

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

void Chain::run_gemv(const DeviceArray<std::byte>& weights, int rows, float* y) {
    BenchDevice& device = BenchDevice::get();
    const AssayGemv call{rows,    shape.width, ASSAY_BF16, weights.data(),
                         nullptr, batch,       x_.data(),  y};
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

}  // namespace assay::kernels::cuda::gpu
