#include "kernels/cpu/instruction_set.hpp"

namespace assay::kernels {
namespace {

constexpr InstructionSet portable{"cpu/portable", &portable_dot_rows, &portable_add_rows,
                                  portable_read_stream};
#if defined(__x86_64__)
constexpr InstructionSet avx2{"cpu/avx2", &avx2_dot_rows, &avx2_add_rows, avx2_read_stream};
constexpr InstructionSet avx512{"cpu/avx512", &avx512_dot_rows, &avx512_add_rows,
                                avx512_read_stream};
#endif

}  // namespace

const InstructionSet& instruction_set(Vectors vectors) {
#if defined(__x86_64__)
    if (vectors == Vectors::avx512) return avx512;
    if (vectors == Vectors::avx2) return avx2;
#endif
    static_cast<void>(vectors);
    return portable;
}

}  // namespace assay::kernels
