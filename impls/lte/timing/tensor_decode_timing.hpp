// Times decoding on a device of libtorch, dense against sparse.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "impls/decode/networks/feed_forward_networks.hpp"
#include "impls/decode/tensors/tensor_weights.hpp"
#include "impls/lte/timing/decode_timing.hpp"
#include "kernels/assay_kernels.h"

namespace assay::lte {

/// Dense and own over the same weights.
struct TensorDecoding {
    const AssayKernels* kernels = nullptr;  ///< of the device
    std::shared_ptr<const decode::TensorWeights> weights;
    at::ScalarType cache_type = at::kBFloat16;
    int length = 32;                              ///< tokens in the cache when timing begins
    std::optional<decode::RandomExperts> active;  ///< of own; none: dense against itself
    int rounds = 15;
    std::size_t read_pass_bytes = std::size_t{1} << 30;
};

/// Where the kernels record (GPU) the tokens of an arm are one recording, so that launching their
/// some thousands of parts takes no time. Throws NotSupportedHere, UserError.
DecodeTimes time_tensor_decoder(const TensorDecoding& setting, const Progress& progress);

}  // namespace assay::lte
