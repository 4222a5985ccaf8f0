// Layers of a feed-forward network with weights of their own in device memory, and random sets of
// active experts of exactly the sparsity that is asked for.
#pragma once

#include "kernels/cuda/gpu/bench_device.hpp"

namespace assay::kernels::cuda::gpu {

/// LLaMA2-7B's: 344 experts of 32 neurons of width 4096.
struct LayerShape {
    int width = 4096, experts = 344, expert_size = 32;

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
    void run_gemv(const DeviceArray<std::byte>& weights, int rows, float* y);

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

}  // namespace assay::kernels::cuda::gpu
