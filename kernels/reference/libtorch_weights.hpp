// Weights in memory as libtorch tensors, without copying them. For benchmarks.
#pragma once

#include <ATen/ops/from_blob.h>

#include <cstddef>

#include "kernels/assay_kernels.h"

namespace assay::kernels::reference {

inline at::ScalarType scalar_type(AssayType type) {
    if (type == ASSAY_F32) return at::kFloat;
    return type == ASSAY_F16 ? at::kHalf : at::kBFloat16;
}

/// Only for reading; valid as long as the memory is.
inline at::Tensor as_tensor(const std::byte* weights, AssayType type, int rows, int columns) {
    return at::from_blob(const_cast<std::byte*>(weights), {rows, columns},
                         at::TensorOptions().dtype(scalar_type(type)));
}

}  // namespace assay::kernels::reference
