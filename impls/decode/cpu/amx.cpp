// The loops with AMX's int8 tiles; the rest of them is AVX-512's. Not run on such a processor yet:
// tests run the same text over EmulatedTiles.
#include "impls/decode/cpu/tile_bodies.hpp"
#include "impls/decode/cpu/vectors_512.hpp"

namespace assay::decode {
namespace {

// The compiler wants a tile's number as a digit.
struct AmxTiles {
    static void load_config(const TileConfig& config) { _tile_loadconfig(&config); }
    static void release() { _tile_release(); }

    template <int tile>
    static void zero() {
        static_assert(tile == tiles::sums || tile == tiles::last_sums);
        if constexpr (tile == tiles::sums)
            _tile_zero(1);
        else
            _tile_zero(3);
    }
    template <int tile>
    static void load(const void* from, int stride) {
        static_assert(tile == tiles::weights || tile == tiles::activations ||
                      tile == tiles::last_activations);
        if constexpr (tile == tiles::weights)
            _tile_loadd(0, from, stride);
        else if constexpr (tile == tiles::activations)
            _tile_loadd(2, from, stride);
        else
            _tile_loadd(4, from, stride);
    }
    template <int tile>
    static void store(void* to, int stride) {
        static_assert(tile == tiles::sums || tile == tiles::last_sums);
        if constexpr (tile == tiles::sums)
            _tile_stored(1, to, stride);
        else
            _tile_stored(3, to, stride);
    }
    template <int to, int a, int b>
    static void dot() {
        static_assert(b == tiles::weights && a == to + 1);
        static_assert(to == tiles::sums || to == tiles::last_sums);
        if constexpr (to == tiles::sums)
            _tile_dpbsud(1, 2, 0);
        else
            _tile_dpbsud(3, 4, 0);
    }
};
static_assert(tiles::weights == 0 && tiles::sums == 1 && tiles::activations == 2 &&
              tiles::last_sums == 3 && tiles::last_activations == 4);

}  // namespace

extern const Loops amx_loops;
const Loops amx_loops = with_tiles<Vnni, AmxTiles>("amx-int8");

}  // namespace assay::decode
