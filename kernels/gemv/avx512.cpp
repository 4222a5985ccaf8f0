// Rows of weights times tokens with AVX-512.
#include "kernels/cpu/vectors_avx512.hpp"
#include "kernels/gemv/dot_rows.hpp"

namespace assay::kernels {

const DotRowsTable avx512_dot_rows = dot_rows_table<Avx512>();

}  // namespace assay::kernels
