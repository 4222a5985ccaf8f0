// Layers of one shape on a device, run as dense, sparse or gathered networks.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/lte/timing/block_timing.hpp"
#include "kernels/plugin/timed_device.hpp"

namespace assay::lte {

using kernels::ReadBandwidth;
using kernels::TimedDevice;

class TimedBlock {
  public:
    TimedBlock(const TimedDevice& device, const BlockSetting& setting, const BlockShape& shape,
               AssayType type, double sparsity, std::uint64_t seed);

    std::size_t layers() const { return layers_.size(); }
    /// Puts one layer's work on the device.
    void run(std::size_t layer, BlockVariant variant) const;
    /// Of the output of what ran last; for tests.
    std::vector<float> output() const;

    /// Weights that one layer must read, mean over layers.
    double bytes(BlockVariant variant) const;
    /// Share of inactive experts, counted over all layers.
    double sparsity() const;

  private:
    using Memory = TimedDevice::Memory;
    struct Layer {
        Memory gate, up, down, router;
        int active = 0;       ///< experts that its router chooses
        Memory active_count;  ///< the same, on the device
    };

    /// Without its weights, for their sizes.
    AssayFfn network() const;
    AssayFfn network(const Memory& gate, const Memory& up, const Memory& down, int experts) const;
    double layer_bytes() const;  ///< all experts of a layer

    void route(const Layer& layer) const;
    void compute(const AssayFfn& ffn, const Memory& active, const Memory& count) const;
    void gather_and_compute(const Layer& layer) const;
    void set_threshold(double sparsity);
    void count_active(Layer& layer) const;

    const TimedDevice& device_;
    BlockShape shape_;
    AssayType type_;
    int experts_;
    std::vector<Layer> layers_;
    Memory packed_gate_, packed_up_, packed_down_;
    Memory x_, y_, mask_, active_, active_count_, all_, all_count_, workspace_;
    std::size_t workspace_bytes_ = 0;
    float threshold_ = 0;
};

}  // namespace assay::lte
