// One matrix of weights as the engine keeps it: rows of a stored type somewhere in a large block of
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "impls/nn/files/tensor_file.hpp"
#include "kernels/assay_kernels.h"

namespace assay::decode {

struct WeightMatrix {
    AssayType type = ASSAY_F32;
    int rows = 0, columns = 0;
    const std::byte* weights = nullptr;  ///< row-major; null: there is no such matrix
    const float* bias = nullptr;         ///< [rows] or null
    bool interleaved = false;            ///< arranged as impls/decode/interleaved/layout.hpp says

    explicit operator bool() const { return weights != nullptr; }
};

AssayType kernel_type(nn::TensorType type);
nn::TensorType tensor_type(AssayType type);

/// Bytes of one row.
std::size_t row_bytes(const WeightMatrix& matrix);
/// Bytes of the matrix and its bias: what a product must read.
std::size_t stored_bytes(const WeightMatrix& matrix);
/// One row as floats. out: [columns].
void read_row(const WeightMatrix& matrix, int row, std::span<float> out);

}  // namespace assay::decode
