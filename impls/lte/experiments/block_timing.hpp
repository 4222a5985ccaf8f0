// Times one sparse feed-forward layer as a decoder runs it: router, then only the active experts.
// The competitors take turns on the same layers, so that their ratio does not see the machine
// drift.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/assay_kernels.h"

namespace assay::lte {

struct BlockShape {
    std::string name;
    int width = 0, hidden = 0;
    AssayActivation activation = ASSAY_SWIGLU;
};
/// "llama2-7b" (4096 × 11008), "smollm2-135m" (576 × 1536), "gpt2-medium" (1024 × 4096, GELU).
/// Throws UserError for another name.
BlockShape block_shape(const std::string& name);

enum class BlockVariant {
    dense,  ///< every expert, the same kernel, no router
    lte,    ///< router, union of active experts, sparse kernel
    index   ///< active experts' rows copied together, then the dense kernel: indexing as frameworks
            ///< do
};

struct BlockTimes {
    double seconds = 0;            ///< of one layer, median
    double dense_seconds = 0;      ///< of the dense layer in the same rounds, median
    double speedup = 0;            ///< median over rounds of dense over own
    double bytes = 0;              ///< weights that must be read, router included
    double sparsity = 0;           ///< share of experts that were not computed, as counted
    double read_bandwidth = 0;     ///< bytes per second of a plain read, same threads, same run
    double working_set_bytes = 0;  ///< read in one turn through all layers
};

/// At least four layers in turn, and so many that a turn through all of them reads far more than a
/// cache holds (within 4 GB of memory); `rounds` rounds. The router's threshold is set so that
/// `sparsity` of the experts stay inactive for the token at hand. Throws NotSupportedHere when the
/// kernels cannot do it.
BlockTimes time_block(const BlockShape& shape, AssayType type, BlockVariant variant,
                      double sparsity, int rounds, std::uint64_t seed,
                      const std::function<void(double fraction)>& progress);

}  // namespace assay::lte
