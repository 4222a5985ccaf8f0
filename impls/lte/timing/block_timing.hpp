// Times one sparse feed-forward layer as a decoder runs it: router, then only the active experts.
// The competitors and a plain read of memory take turns, so that their ratios do not see the
// machine drift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "kernels/assay_kernels.h"
#include "suite/base/describe.hpp"

namespace assay::lte {

struct BlockShape {
    std::string name;
    int width = 0, hidden = 0;
    AssayActivation activation = ASSAY_SWIGLU;
};
/// Of a layer of model::named_shape(). Throws UserError for an unknown name.
BlockShape block_shape(const std::string& name);

enum class BlockVariant {
    dense,  ///< every expert, the same kernel, no router
    lte,    ///< router, union of active experts, sparse kernel
    index   ///< active experts' rows copied together, then the dense kernel: indexing as frameworks
            ///< do. How many there are is known beforehand (a framework would wait for that)
};
ASSAY_NAMES(BlockVariant, dense, lte, index)

struct BlockTimes {
    double seconds = 0;          ///< of one layer, median
    double fastest_seconds = 0;  ///< of the fastest round
    double dense_seconds = 0;    ///< of the dense layer in the same rounds, median
    double speedup = 0;          ///< median over rounds of dense over own
    double latency_ratio = 0;    ///< median over rounds of own over dense
    double bytes = 0;            ///< weights that must be read, router included
    /// Lower quartile over rounds of the read's time for as many bytes, over own's: at most 1, but
    /// for what else the machine did.
    double read_share = 0;
    double sparsity = 0;        ///< share of experts that were not computed, as counted
    double read_bandwidth = 0;  ///< bytes per second of a plain read, same threads, same rounds
    double best_read_bandwidth = 0;  ///< of the fastest of these
    double working_set_bytes = 0;    ///< read in one turn through all layers
};

/// Where, and how far beyond its caches.
struct BlockSetting {
    const AssayKernels* kernels = nullptr;
    double least_read_bytes = 256e6;  ///< in one turn through all layers
    double most_memory_bytes = 4e9;   ///< limits that: the weights of all layers
    int rounds = 24;
};
/// The CPU back end, and one for GPUs (which cache more, read faster and hold more).
BlockSetting cpu_setting();
BlockSetting gpu_setting(const AssayKernels& kernels);

/// At least four layers in turn. A round times one layer after another: a single one, or, where a
/// back end records (GPU), a turn through all of them, which hides the launches; seconds are of one
/// layer. The router's threshold is set so that `sparsity` of the experts stay inactive for the
/// token at hand. The plain read passes over as much as own reads, in regions that together are as
/// far beyond the caches. Throws NotSupportedHere when the kernels cannot do it.
BlockTimes time_block(const BlockSetting& setting, const BlockShape& shape, AssayType type,
                      BlockVariant variant, double sparsity, std::uint64_t seed,
                      const std::function<void(double fraction)>& progress);

}  // namespace assay::lte
