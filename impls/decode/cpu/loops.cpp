#include "impls/decode/cpu/loops.hpp"

#include <vector>

#include "kernels/cpu/instruction_set.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace assay::decode {

extern const Loops portable_loops, avx2_loops, vnni_loops, amx_loops, emulated_tile_loops;

bool has_int8_tiles(const TileBits& bits) {
    constexpr std::uint32_t tiles_and_int8 = 3u << 24;
    constexpr std::uint64_t saved = 3u << 17;  // the tiles' shapes and what is in them
    return (bits.leaf7_edx & tiles_and_int8) == tiles_and_int8 && (bits.saved & saved) == saved;
}

namespace {

#if defined(__x86_64__)
TileBits tile_bits() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return {};
    return {edx, kernels::processor_bits().saved};
}

/// Tiles are 8 KiB of registers that Linux saves only for processes that ask for it
/// (Documentation/arch/x86/xstate.rst): once, for all threads.
bool may_use_tiles() {
#if defined(__linux__)
    constexpr long ask_for_permission = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, ask_for_permission, tile_data) == 0;
#else
    return false;
#endif
}
#endif

}  // namespace

std::span<const Loops* const> all_loops() {
    static const std::vector<const Loops*> usable = [] {
        std::vector<const Loops*> all{&portable_loops};
#if defined(__x86_64__)
        const kernels::Vectors widest = kernels::widest_vectors(kernels::processor_bits());
        if (widest >= kernels::Vectors::avx2) all.push_back(&avx2_loops);
        if (widest >= kernels::Vectors::avx512 && __builtin_cpu_supports("avx512vnni")) {
            all.push_back(&vnni_loops);
            if (has_int8_tiles(tile_bits()) && may_use_tiles()) all.push_back(&amx_loops);
        }
#endif
        return all;
    }();
    return usable;
}

const Loops& loops() { return *all_loops().back(); }
const Loops& loops_with_emulated_tiles() { return emulated_tile_loops; }

}  // namespace assay::decode
