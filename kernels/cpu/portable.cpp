// The innermost loops with plain C++: a plain read, rows of weights times tokens, neurons' rows
// added to the output.
#include "kernels/cpu/streaming.hpp"
#include "kernels/cpu/vectors_portable.hpp"
#include "kernels/gemv/dot_rows.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

std::uint32_t portable_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Portable>(from, bytes);
}

const DotRowsTable portable_dot_rows = dot_rows_table<Portable>();

const AddRowsTable portable_add_rows = add_rows_table<Portable>();

}  // namespace assay::kernels
