// The innermost loops with AVX-512: a plain read, rows of weights times tokens, neurons' rows added
// to the output.
#include "kernels/cpu/streaming.hpp"
#include "kernels/cpu/vectors_avx512.hpp"
#include "kernels/gemv/dot_rows.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

std::uint32_t avx512_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Avx512>(from, bytes);
}

const DotRowsTable avx512_dot_rows = dot_rows_table<Avx512>();

const AddRowsTable avx512_add_rows = add_rows_table<Avx512>();

}  // namespace assay::kernels
