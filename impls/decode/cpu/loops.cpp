#include "impls/decode/cpu/loops.hpp"

#include <vector>

#include "kernels/cpu/instruction_set.hpp"

namespace assay::decode {

extern const Loops portable_loops, avx2_loops, vnni_loops;

std::span<const Loops* const> all_loops() {
    static const std::vector<const Loops*> usable = [] {
        std::vector<const Loops*> all{&portable_loops};
#if defined(__x86_64__)
        const kernels::Vectors widest = kernels::widest_vectors(kernels::processor_bits());
        if (widest >= kernels::Vectors::avx2) all.push_back(&avx2_loops);
        if (widest >= kernels::Vectors::avx512 && __builtin_cpu_supports("avx512vnni"))
            all.push_back(&vnni_loops);
#endif
        return all;
    }();
    return usable;
}

const Loops& loops() { return *all_loops().back(); }

}  // namespace assay::decode
