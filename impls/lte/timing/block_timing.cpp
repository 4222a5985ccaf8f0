#include "impls/lte/timing/block_timing.hpp"

#include <algorithm>
#include <cmath>

#include "impls/lte/timing/timed_block.hpp"
#include "impls/model/named_models.hpp"
#include "suite/claim/quantity.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::lte {
namespace {

/// One variant's layers in a form that is timed again and again.
class TimedVariant {
  public:
    TimedVariant(const TimedDevice& device, const TimedBlock& block, BlockVariant variant)
        : device_(device), block_(block), variant_(variant) {
        block.run(0, variant);  // loads what is loaded lazily
        if (!device.records()) return;
        whole_turn_ = device.repeatable([&] {
            for (std::size_t layer = 0; layer < block_.layers(); ++layer) run(layer);
        });
        whole_turn_();
    }

    /// Of one layer.
    double seconds(std::size_t layer) const {
        if (!whole_turn_) return device_.seconds([&] { run(layer); });
        return device_.seconds(whole_turn_) / static_cast<double>(block_.layers());
    }

  private:
    void run(std::size_t layer) const { block_.run(layer, variant_); }

    const TimedDevice& device_;
    const TimedBlock& block_;
    BlockVariant variant_;
    std::function<void()> whole_turn_;
};

}  // namespace

BlockShape block_shape(const std::string& name) {
    const nn::DecoderConfig config = model::named_shape(name);
    return {.name = name,
            .width = config.width,
            .hidden = config.hidden,
            .activation = config.activation == nn::Activation::swiglu ? ASSAY_SWIGLU : ASSAY_GELU};
}

BlockSetting cpu_setting() {
    BlockSetting setting;
    setting.kernels = assay_cpu_kernels(nullptr);
    return setting;
}

BlockSetting gpu_setting(const AssayKernels& kernels) {
    BlockSetting setting;
    setting.kernels = &kernels;
    setting.least_read_bytes = 1.1e9;  // the largest caches hold 0.06 GB
    setting.most_memory_bytes = 12e9;
    return setting;
}

BlockTimes time_block(const BlockSetting& setting, const BlockShape& shape, AssayType type,
                      BlockVariant variant, double sparsity, std::uint64_t seed,
                      const std::function<void(double fraction)>& progress) {
    const TimedDevice device(*setting.kernels);
    const TimedBlock block(device, setting, shape, type,
                           variant == BlockVariant::dense ? 0 : sparsity, seed);
    const TimedVariant of_dense(device, block, BlockVariant::dense), of_own(device, block, variant);
    const double bytes = block.bytes(variant);
    const double of_round = bytes * (device.records() ? static_cast<double>(block.layers()) : 1);
    const ReadBandwidth read(
        device, static_cast<std::size_t>(of_round),
        static_cast<std::size_t>(std::max(2.0, std::ceil(setting.least_read_bytes / of_round))));
    std::vector<double> own, dense, speedup, latency_ratio, bandwidth;
    for (int round = 0; round < setting.rounds; ++round) {
        // Half a turn apart, so that neither finds in the cache what the other has just read.
        const auto layer = static_cast<std::size_t>(round);
        // Dense first in every second round.
        if (round % 2 == 0) dense.push_back(of_dense.seconds(layer));
        own.push_back(of_own.seconds(layer + block.layers() / 2));
        if (round % 2 == 1) dense.push_back(of_dense.seconds(layer));
        bandwidth.push_back(read.measure());
        speedup.push_back(dense.back() / own.back());
        latency_ratio.push_back(own.back() / dense.back());
        progress(static_cast<double>(round + 1) / setting.rounds);
    }
    BlockTimes times;
    times.seconds = median(own);
    times.fastest_seconds = *std::min_element(own.begin(), own.end());
    times.dense_seconds = median(dense);
    times.speedup = median(speedup);
    times.latency_ratio = median(latency_ratio);
    times.read_share =
        bytes / statistics::quantile(own, 0.25) / statistics::quantile(bandwidth, 0.75);
    times.best_read_bandwidth = *std::max_element(bandwidth.begin(), bandwidth.end());
    times.sparsity = variant == BlockVariant::dense ? 0 : block.sparsity();
    times.bytes = bytes;
    times.read_bandwidth = median(bandwidth);
    times.working_set_bytes = static_cast<double>(block.layers()) * bytes;
    return times;
}

}  // namespace assay::lte
