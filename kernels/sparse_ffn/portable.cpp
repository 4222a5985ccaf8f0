// Neurons' rows added to the output with plain C++.
#include "kernels/cpu/vectors_portable.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

const AddRowsTable portable_add_rows = add_rows_table<Portable>();

}  // namespace assay::kernels
