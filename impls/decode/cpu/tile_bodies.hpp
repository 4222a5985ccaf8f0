// Products with tiles (Intel's AMX): rows of bytes that one instruction multiplies. An interleaved
// block is such a tile as it is: of every four columns four bytes of each of sixteen rows. Block
// sums are whole numbers, and all that follows is loop_bodies.hpp's, so that the bits are those of
// the other loops. Included only by the files compiled for one set of instructions.
//
// Tiles: load_config, load, store, zero, dot and release, as AMX's instructions.
#pragma once

#include <cstring>

#include "impls/decode/cpu/loop_bodies.hpp"

namespace assay::decode {

constexpr int tile_rows = 16;

/// What LDTILECFG reads (Intel's manual, volume 1, chapter 18).
struct alignas(64) TileConfig {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

/// The instructions in plain C++. Each thread has its own tiles, as a core does.
class EmulatedTiles {
  public:
    static void load_config(const TileConfig& config) {
        state() = {};
        state().config = config;
    }
    static void release() { state() = {}; }
    template <int tile>
    static void zero() {
        std::memset(state().bytes[tile], 0, sizeof state().bytes[tile]);
    }
    template <int tile>
    static void load(const void* from, int stride) {
        zero<tile>();
        for (int row = 0; row < rows(tile); ++row)
            std::memcpy(state().bytes[tile][row],
                        static_cast<const std::byte*>(from) + row * stride, row_bytes(tile));
    }
    template <int tile>
    static void store(void* to, int stride) {
        for (int row = 0; row < rows(tile); ++row)
            std::memcpy(static_cast<std::byte*>(to) + row * stride, state().bytes[tile][row],
                        row_bytes(tile));
    }
    /// TDPBSUD: sums of four products of signed bytes of a with unsigned ones of b are added to
    /// the 32-bit numbers of `to`.
    template <int to, int a, int b>
    static void dot() {
        for (int m = 0; m < rows(to); ++m)
            for (std::size_t k = 0; k < row_bytes(a) / 4; ++k)
                for (std::size_t n = 0; n < row_bytes(to) / 4; ++n) {
                    std::int32_t sum;
                    std::memcpy(&sum, state().bytes[to][m] + 4 * n, sizeof sum);
                    for (std::size_t i = 0; i < 4; ++i)
                        sum += static_cast<std::int8_t>(state().bytes[a][m][4 * k + i]) *
                               static_cast<std::uint8_t>(state().bytes[b][k][4 * n + i]);
                    std::memcpy(state().bytes[to][m] + 4 * n, &sum, sizeof sum);
                }
    }

  private:
    struct State {
        TileConfig config;
        std::byte bytes[8][tile_rows][64];
    };
    static State& state() {
        static thread_local State of_thread{};
        return of_thread;
    }
    static int rows(int tile) { return state().config.rows[tile]; }
    static std::size_t row_bytes(int tile) { return state().config.row_bytes[tile]; }
};

namespace tiles {
enum : int { weights, sums, activations, last_sums, last_activations };
}

// The sums of `rows` tokens, digit by digit.
template <class Tiles, int sums, int activations, int digits>
inline void tile_sums(const DigitBlock<digits>* x, std::int32_t (*out)[tile_rows][lanes]) {
    for (int d = 0; d < digits; ++d) {
        Tiles::template zero<sums>();
        Tiles::template load<activations>(x->digits[d], sizeof *x);
        Tiles::template dot<sums, activations, tiles::weights>();
        Tiles::template store<sums>(out[d], sizeof out[d][0]);
    }
}

template <class V, class Tiles, AssayType type, int digits>
void multiply_tiles(const std::byte* group, int columns, const DigitBlock<digits>* x, int tokens,
                    float* y, int stride, const Ahead& ahead) {
    const int last = tokens % tile_rows;  // in a tile of their own, so that no more is read
    TileConfig config;
    const auto shape = [&](int tile, int rows, int row_bytes) {
        config.rows[tile] = static_cast<std::uint8_t>(rows);
        config.row_bytes[tile] = static_cast<std::uint16_t>(row_bytes);
    };
    shape(tiles::weights, quads, 4 * lanes);
    shape(tiles::sums, tile_rows, 4 * lanes);
    shape(tiles::activations, tile_rows, digit_block);
    if (last > 0) {
        shape(tiles::last_sums, last, 4 * lanes);
        shape(tiles::last_activations, last, digit_block);
    }
    Tiles::load_config(config);
    for (int t = 0; t < tokens; ++t) V::store(y + t * stride, V::no_floats());
    const int blocks = columns / digit_block;
    AskAhead asks(ahead, blocks);
    for (int b = 0; b < blocks; ++b, group += Block<type>::bytes, x += tokens) {
        asks.ask();
        ask_for_weights<type>(group);
        const Unpacked<V, type> weights(group);
        alignas(64) std::uint8_t quants[quads][4 * lanes];
        for (int q = 0; q < quads; ++q) V::store_quants(quants[q], weights.quants[q]);
        Tiles::template load<tiles::weights>(quants, sizeof quants[0]);
        for (int first = 0; first < tokens; first += tile_rows) {
            alignas(64) std::int32_t sums[digits][tile_rows][lanes];
            if (first + tile_rows <= tokens)
                tile_sums<Tiles, tiles::sums, tiles::activations>(x + first, sums);
            else
                tile_sums<Tiles, tiles::last_sums, tiles::last_activations>(x + first, sums);
            for (int t = first; t < tokens && t < first + tile_rows; ++t) {
                typename V::Ints of_token[digits];
#pragma GCC unroll 3
                for (int d = 0; d < digits; ++d)
                    of_token[d] =
                        V::plus(V::load_ints(sums[d][t - first]), without_added<V, type>(x[t], d));
                float* const to = y + t * stride;
                V::store(to, add_sums<V, type, digits>(of_token, weights, x[t], V::load(to)));
            }
        }
    }
    Tiles::release();
}

// Of few tokens a tile would be empty for the most part.
template <class V, class Tiles, int digits>
void multiply_with_tiles(AssayType type, const std::byte* group, int columns,
                         const DigitBlock<digits>* x, int tokens, float* y, int stride,
                         Ahead ahead) {
    if (tokens <= 4) return multiply<V, digits>(type, group, columns, x, tokens, y, stride, ahead);
    const auto run = type == ASSAY_Q8_0   ? multiply_tiles<V, Tiles, ASSAY_Q8_0, digits>
                     : type == ASSAY_Q4_0 ? multiply_tiles<V, Tiles, ASSAY_Q4_0, digits>
                                          : multiply_tiles<V, Tiles, ASSAY_Q4_1, digits>;
    run(group, columns, x, tokens, y, stride, ahead);
}

template <class V, class Tiles>
constexpr Loops with_tiles(const char* name) {
    Loops loops = loops_of<V>(name);
    loops.multiply_exact = multiply_with_tiles<V, Tiles, 3>;
    loops.multiply_int8 = multiply_with_tiles<V, Tiles, 1>;
    return loops;
}

}  // namespace assay::decode
