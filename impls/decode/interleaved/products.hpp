// Products with interleaved rows: the loops for one set of instructions.
#pragma once

#include <cstddef>

#include "impls/decode/interleaved/digits.hpp"
#include "kernels/assay_kernels.h"

namespace assay::decode {

struct InterleavedProducts {
    /// x: [columns], columns a multiple of 32. out: [columns / 32].
    void (*digits)(const float* x, int columns, DigitBlock* out);
    /// Sixteen rows (one group of layout.hpp) times `tokens` tokens: y[t·stride + r]. Each sum is
    /// made in one order, whatever `tokens`.
    void (*multiply)(AssayType type, const std::byte* group, int columns,
                     const DigitBlock* const* x, int tokens, float* y, int stride);
    /// The same for bf16 rows; x: [tokens] rows of floats, columns even. Arithmetic in fp32.
    void (*multiply_bf16)(const std::byte* group, int columns, const float* const* x, int tokens,
                          float* y, int stride);
};

/// Null: this processor has no AVX-512 with int8 dot products (VNNI).
const InterleavedProducts* interleaved_products();

extern const InterleavedProducts vnni_products;

}  // namespace assay::decode
