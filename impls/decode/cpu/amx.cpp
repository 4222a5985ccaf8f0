// The loops with AMX's int8 tiles; the rest of them is AVX-512's. Where a processor has none, tests
// run the same text over EmulatedTiles.
#include "impls/decode/cpu/tile_bodies.hpp"
#include "impls/decode/cpu/vectors_512.hpp"

namespace assay::decode {
namespace {

// GCC 12's own functions want a tile's number as a digit and do not say what memory they read: of
// the configuration eight bytes, so that the others may not be stored yet.
struct AmxTiles {
    static void load_config(const TileConfig& config) {
        asm volatile("ldtilecfg %0" ::"m"(config));
    }
    static void store_config(TileConfig& config) { asm volatile("sttilecfg %0" : "=m"(config)); }

    template <int tile>
    static void zero() {
        asm volatile("tilezero %%tmm%c0" ::"i"(tile));
    }
    template <int tile>
    static void load(const void* from, std::ptrdiff_t stride) {
        asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(tile), "r"(from), "r"(stride)
                     : "memory");
    }
    template <int tile>
    static void store(void* to, std::ptrdiff_t stride) {
        asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(tile), "r"(to), "r"(stride) : "memory");
    }
    template <int to, int a, int b>
    static void dot() {
        asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(to), "i"(a), "i"(b));
    }
};

}  // namespace

extern const Loops amx_loops;
const Loops amx_loops = with_tiles<Vnni, AmxTiles>("amx-int8");

}  // namespace assay::decode
