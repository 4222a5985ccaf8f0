// Neurons' rows added to the output with AVX2, FMA and F16C.
#include "kernels/cpu/vectors_avx2.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

const AddRowsTable avx2_add_rows = add_rows_table<Avx2>();

}  // namespace assay::kernels
