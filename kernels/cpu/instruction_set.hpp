// The innermost loops, once for each set of vector instructions, and which of the sets this
// processor and its operating system can run. Everything else in the CPU back end is the same code
// for all.
//
// The files that define the tables (avx2.cpp, avx512.cpp, portable.cpp) are compiled with flags of
// their own (-mavx512f …). They hold nothing but their loops, on types of their own: an inline
// function shared with other files could be merged by the linker into one that older processors
// cannot run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

enum class Vectors { portable, avx2, avx512 };

/// What CPUID and XGETBV say; all zero on other processors.
struct ProcessorBits {
    std::uint32_t leaf1_ecx = 0;  ///< FMA 12, OSXSAVE 27, AVX 28, F16C 29
    std::uint32_t leaf7_ebx = 0;  ///< AVX2 5, AVX-512: F 16, DQ 17, BW 30, VL 31
    std::uint64_t saved = 0;      ///< XCR0: registers the operating system saves
};

ProcessorBits processor_bits();
/// The widest that may be used. AVX-512 means F, BW, VL and DQ beside all that AVX2 means.
Vectors widest_vectors(const ProcessorBits& bits);

/// out[r][t] = sum over c of weights[r][c] · x[t][c]. Rows lie row_bytes apart. The order of each
/// sum depends on `columns` alone: neither on `rows` nor on `tokens`. Weights may be unaligned.
/// `next`: what will be read after these rows, so that it can be on its way; it need not be there.
using DotRows = void (*)(const std::byte* weights, std::size_t row_bytes, int rows, int columns,
                         const float* const* x, int tokens, float* out, const std::byte* next);

/// y[t][c] += sum over r, ascending, of h[r][t] · weights[r][c], for `columns` columns. Whether
/// product and sum are rounded apart depends on the instructions, on nothing else. next: as above.
using AddRows = void (*)(const std::byte* weights, std::size_t row_bytes, int rows, int columns,
                         const float* h, int tokens, float* const* y, const std::byte* next);

// The same of rows that lie apart: those that `rows` lists, `count` of them, by their number.
// `ahead`: while one is read, the row as many places behind it in the list is asked for; the list
// therefore goes on for `ahead` more entries, which say what will be read after these.
using DotListedRows = void (*)(const std::byte* weights, std::size_t row_bytes,
                               const std::int32_t* rows, int count, int ahead, int columns,
                               const float* const* x, int tokens, float* out);
using AddListedRows = void (*)(const std::byte* weights, std::size_t row_bytes,
                               const std::int32_t* rows, int count, int ahead, int columns,
                               const float* h, int tokens, float* const* y);

/// How far ahead of its use memory that is read in order is asked for, in bytes: into the second
/// cache, from where the processor's own prefetching takes it on. (Asking for the first cache, 1
/// KiB ahead, measured half the bandwidth on Zen 4: it holds too few lines in flight.)
constexpr std::size_t prefetch_bytes_ahead = 8192;
constexpr int most_rows_ahead = 16;
/// `ahead` for rows that lie apart; at least as many as are added up at a time.
constexpr int rows_ahead(std::size_t row_bytes) {
    const std::size_t rows = (prefetch_bytes_ahead + row_bytes - 1) / row_bytes;
    return rows < 4 ? 4 : rows < most_rows_ahead ? static_cast<int>(rows) : most_rows_ahead;
}

/// Reads every byte once and returns something that depends on all of them. bytes: multiple of 256.
using ReadStream = std::uint32_t (*)(const std::byte* from, std::size_t bytes);

constexpr int type_count = 6;  ///< values of AssayType

struct DotRowsTable {
    DotRows of_type[type_count];
    DotListedRows listed[type_count];
};
struct AddRowsTable {
    AddRows of_type[type_count];  ///< null for the q types
    AddListedRows listed[type_count];
};

struct InstructionSet {
    const char* name;  ///< as in AssayKernels
    const DotRowsTable* dot_rows;
    const AddRowsTable* add_rows;
    ReadStream read_stream;
};

extern const DotRowsTable portable_dot_rows, avx2_dot_rows, avx512_dot_rows;
extern const AddRowsTable portable_add_rows, avx2_add_rows, avx512_add_rows;
std::uint32_t portable_read_stream(const std::byte* from, std::size_t bytes);
std::uint32_t avx2_read_stream(const std::byte* from, std::size_t bytes);
std::uint32_t avx512_read_stream(const std::byte* from, std::size_t bytes);

/// Not checked: whether this processor can run it.
const InstructionSet& instruction_set(Vectors vectors);

}  // namespace assay::kernels
