// Rows of weights times tokens with plain C++.
#include "kernels/cpu/vectors_portable.hpp"
#include "kernels/gemv/dot_rows.hpp"

namespace assay::kernels {

const DotRowsTable portable_dot_rows = dot_rows_table<Portable>();

}  // namespace assay::kernels
