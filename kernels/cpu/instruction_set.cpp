#include "kernels/cpu/instruction_set.hpp"

#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::kernels {
namespace {

constexpr bool has(std::uint64_t bits, std::initializer_list<int> wanted) {
    for (const int bit : wanted)
        if (!((bits >> bit) & 1u)) return false;
    return true;
}

}  // namespace

ProcessorBits processor_bits() {
    ProcessorBits bits;
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d)) bits.leaf1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) bits.leaf7_ebx = b;
    if (has(bits.leaf1_ecx, {27})) {
        std::uint32_t low = 0, high = 0;
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        bits.saved = static_cast<std::uint64_t>(high) << 32 | low;
    }
#endif
    return bits;
}

Vectors widest_vectors(const ProcessorBits& bits) {
    const bool saves_ymm = has(bits.saved, {1, 2});
    if (!has(bits.leaf1_ecx, {12, 27, 28, 29}) || !has(bits.leaf7_ebx, {5}) || !saves_ymm)
        return Vectors::portable;
    const bool saves_zmm = has(bits.saved, {5, 6, 7});
    if (!has(bits.leaf7_ebx, {16, 17, 30, 31}) || !saves_zmm) return Vectors::avx2;
    return Vectors::avx512;
}

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
