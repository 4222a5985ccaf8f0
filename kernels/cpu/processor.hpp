// Which of our sets of vector instructions this processor and its operating system can run.
#pragma once

#include <cstdint>

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

}  // namespace assay::kernels
