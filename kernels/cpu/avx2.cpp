// The innermost loops with AVX2, FMA and F16C: a plain read, rows of weights times tokens, neurons'
// rows added to the output.
#include "kernels/cpu/streaming.hpp"
#include "kernels/cpu/vectors_avx2.hpp"
#include "kernels/gemv/dot_rows.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

std::uint32_t avx2_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Avx2>(from, bytes);
}

const DotRowsTable avx2_dot_rows = dot_rows_table<Avx2>();

const AddRowsTable avx2_add_rows = add_rows_table<Avx2>();

}  // namespace assay::kernels
