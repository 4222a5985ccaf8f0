// Neurons' rows added to the output with AVX-512.
#include "kernels/cpu/vectors_avx512.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

const AddRowsTable avx512_add_rows = add_rows_table<Avx512>();

}  // namespace assay::kernels
