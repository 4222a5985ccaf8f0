// The shapes of gpt.hpp's models, by name and without libtorch.
#pragma once

#include "suite/base/describe.hpp"

namespace assay::nn {

/// What the layers are made of.
enum class MoeShape {
    gpt,     ///< LayerNorm, learned positions, an expert is two products with GELU between
    mixtral  ///< RMSNorm, rotary positions, grouped queries, SwiGLU experts, a head of its own
};
ASSAY_NAMES(MoeShape, gpt, mixtral)

}  // namespace assay::nn
