// The experts of a layer in three products instead of three for each: libtorch's grouped product,
// which a GPU from compute capability 9.0 on has in one kernel, for bf16.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

/// What expert_forward() makes of each expert's rows in Mixtral's shape, f32, bf16 or f16. rows:
/// [n, width], expert by expert; counts: of each, may be 0. Their weights, which lie apart, are
/// copied into one array. Elsewhere than on such a GPU libtorch multiplies one by one.
at::Tensor grouped_expert_forward(const std::vector<const ParameterBlock*>& experts,
                                  const at::Tensor& rows, const std::vector<std::int64_t>& counts);

}  // namespace assay::nn
