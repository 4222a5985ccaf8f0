// Rows rearranged so that sixteen of them are multiplied side by side, one in each lane of a
// vector: quantised ones by int8 dot products. The loops: impls/decode/cpu/loops.hpp.
//
// Sixteen rows form a group; the last is filled up with rows of zeros. Block by block of 32 columns
// it holds: the sixteen scales (f16), the sixteen minima (f16, q4_1 only), then the quants.
//   q8_0: for each four columns 64 bytes: of every row its four int8.
//   q4:   for each four of the first sixteen columns 64 bytes: of every row four bytes, as in its
//         plain block: a low half is column c, the high half column c + 16.
// Floats have neither:
//   bf16: for each two columns 64 bytes: of every row its two; an odd one at the end as in f16.
//   f16, f32: for each column of every row its one.
#pragma once

#include <cstddef>

#include "kernels/assay_kernels.h"

namespace assay::decode {

constexpr int interleaved_rows = 16;

/// Bytes of `rows` interleaved rows.
std::size_t interleaved_bytes(AssayType type, int rows, int columns);

/// plain: [rows] rows of the type. out: interleaved_bytes().
void interleave(AssayType type, const std::byte* plain, int rows, int columns, std::byte* out);

/// Of row `row` as it was before the columns from `first` on, `count` of them: whole blocks. out:
/// the bytes of so many columns of a plain row.
void take_row(AssayType type, const std::byte* interleaved, int columns, int row, int first,
              int count, std::byte* out);

}  // namespace assay::decode
