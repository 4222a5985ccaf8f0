// Rows of weights times tokens with AVX2, FMA and F16C.
#include "kernels/cpu/vectors_avx2.hpp"
#include "kernels/gemv/dot_rows.hpp"

namespace assay::kernels {

const DotRowsTable avx2_dot_rows = dot_rows_table<Avx2>();

}  // namespace assay::kernels
