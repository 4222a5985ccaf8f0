// The model's settings described (suite/base/describe.hpp), as they travel to workers.
#pragma once

#include <ATen/core/Tensor.h>

#include "impls/nn/moe/gpt.hpp"
#include "impls/nn/parameter_block.hpp"
#include "suite/base/describe.hpp"

// Where argument-dependent lookup finds them.
namespace c10 {
ASSAY_NAMES(ScalarType, Float, Double)
}
namespace assay::nn {
ASSAY_FIELDS(MoeGptConfig, layers, width, heads, experts, top_k, hidden, context, dtype, shape,
             kv_heads, capacity_factor)
ASSAY_FIELDS(AdamOptions, learning_rate, beta1, beta2, epsilon)
}  // namespace assay::nn
