#include "impls/decode/interleaved/layout.hpp"
#include "impls/decode/interleaved/products.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/processor.hpp"

namespace assay::decode {

const InterleavedProducts* interleaved_products() {
#if defined(__x86_64__)
    static const bool usable =
        kernels::widest_vectors(kernels::processor_bits()) == kernels::Vectors::avx512 &&
        __builtin_cpu_supports("avx512vnni");
    if (usable) return &vnni_products;
#endif
    return nullptr;
}

bool can_interleave(AssayType type, int columns) {
    const bool pairs = type == ASSAY_BF16 && columns % 2 == 0;
    return (kernels::is_quantised(type) || pairs) && interleaved_products() != nullptr;
}

}  // namespace assay::decode
