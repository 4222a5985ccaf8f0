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

/// Reads every byte once and returns something that depends on all of them. bytes: multiple of 256.
using ReadStream = std::uint32_t (*)(const std::byte* from, std::size_t bytes);

constexpr int type_count = 6;  ///< values of AssayType

struct DotRowsTable {
    DotRows of_type[type_count];
};
struct AddRowsTable {
    AddRows of_type[type_count];  ///< null for the q types
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
