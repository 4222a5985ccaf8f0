// Fig. 8, right: its settings and what needs libtorch, a GPU's part, for fig8b.cpp and, in the
// module of tensors, fig8b_gpu.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "impls/tensors/part.hpp"

namespace assay::lte {

enum class DecodeVariant { dense, lte };
ASSAY_NAMES(DecodeVariant, dense, lte)

struct Fig8b {
    std::string model;
    double sparsity = 0;
    int length = 0;
    DecodeVariant variant{};
    Profile profile{};
    std::uint64_t seed = 0;
};

/// Why nothing decodes on a GPU here, or nullopt.
inline const tensors::Part<std::optional<std::string>()> gpu_decoding_lacks{
    "lte/gpu_decoding_lacks"};
/// A whole sample. Throws SampleError (unsupported) with what gpu_decoding_lacks() says.
inline const tensors::Part<void(const Fig8b&, Recorder&)> decode_on_gpu{"lte/fig8b"};

}  // namespace assay::lte
