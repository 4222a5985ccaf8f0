// Times decoding on a device of libtorch, dense against sparse, over the same weights.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>

#include "impls/decode/engine.hpp"
#include "impls/decode/tensors/tensor_weights.hpp"
#include "kernels/assay_kernels.h"

namespace assay::lte {

struct DecodeTimes {
    double seconds = 0;          ///< per token, median over rounds
    double latency_ratio = 0;    ///< own over dense of the same round, median
    double bound_share = 0;      ///< bytes over the read's bandwidth of the round, over latency
    double bytes_per_token = 0;  ///< at the first timed position
    double read_bandwidth = 0;   ///< bytes per second, median over rounds
};

struct DecodeSetting {
    const AssayKernels* kernels = nullptr;  ///< of the device
    std::shared_ptr<const decode::TensorWeights> weights;
    at::ScalarType cache_type = at::kBFloat16;
    int length = 32;                           ///< tokens in the cache when timing begins
    std::optional<decode::FixedActive> drawn;  ///< sparse; none: dense against itself
    int rounds = 15;
    std::size_t read_pass_bytes = std::size_t{1} << 30;
};

/// A round times the same eight tokens behind the prompt, dense and own in turns, and one plain
/// read. Where the kernels record (GPU) the eight tokens are one recording, so that launching their
/// some thousands of parts takes no time. Throws NotSupportedHere, UserError.
DecodeTimes time_decoding(const DecodeSetting& setting,
                          const std::function<void(double fraction)>& progress);

}  // namespace assay::lte
