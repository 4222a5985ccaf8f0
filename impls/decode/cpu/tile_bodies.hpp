// Products with tiles (Intel's AMX): rows of bytes that one instruction multiplies. An interleaved
// block is such a tile as it is: of every four columns four bytes of each of sixteen rows. Block
// sums are whole numbers, and all that follows is loop_bodies.hpp's, so that the bits are those of
// the other loops. Included only by the files compiled for one set of instructions.
//
// Tiles: load_config, store_config, load, store, zero and dot, as AMX's instructions.
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

/// Loading shapes takes as long as the products of ten tiles, looking at them a tenth of that. So
/// threads keep theirs; another library's tiles may have been loaded meanwhile.
template <class Tiles>
inline void use_shapes(const TileConfig& config) {
    TileConfig now;
    Tiles::store_config(now);
    if (std::memcmp(&now, &config, sizeof now) != 0) Tiles::load_config(config);
}

/// The instructions in plain C++. Each thread has its own tiles, as a core does.
class EmulatedTiles {
  public:
    static void load_config(const TileConfig& config) {
        state() = {};
        state().config = config;
    }
    static void store_config(TileConfig& config) { config = state().config; }
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
enum : int { weights, sums, activations = sums + 3 };  // of each digit
}

/// Blocks of a group that are gone through at a time, for all tokens: their activations and quants
/// stay in the first cache.
constexpr int blocks_together = 12;
/// A tile that is loaded from what has just been stored waits for it.
constexpr int unpacked_ahead = 3;

// Some blocks of a group, whose quants are unpacked.
template <class V, AssayType type>
struct UnpackedBlocks {
    const std::byte* blocks = nullptr;
    int count = 0;
    alignas(64) std::uint8_t quants[blocks_together][quads][4 * lanes];

    const std::byte* at(int block) const { return blocks + block * Block<type>::bytes; }
    void unpack(int block) {
        if (block >= count) return;
        const Unpacked<V, type> weights(at(block));
#pragma GCC unroll 8
        for (int q = 0; q < quads; ++q) V::store_quants(quants[block][q], weights.quants[q]);
    }
};

// Products of them with `rows` tokens at a time.
template <class V, class Tiles, AssayType type, int digits, int rows>
class TileProducts {
  public:
    TileProducts() {
        static constexpr TileConfig config = shapes();
        use_shapes<Tiles>(config);
    }

    /// y[t·stride] += the blocks' products with `rows` tokens, but for the first `without` of them;
    /// block b of the first token: x[b·tokens]. unpacks: whether the blocks are unpacked on the
    /// way, and those to come asked for.
    template <bool unpacks>
    void add(UnpackedBlocks<V, type>& blocks, const DigitBlock<digits>* x, int tokens, int without,
             float* y, int stride) {
        typename V::Floats total[rows];
#pragma GCC unroll 16
        for (int t = 0; t < rows; ++t) total[t] = V::load(y + t * stride);
        if constexpr (unpacks)
            for (int b = 0; b < unpacked_ahead; ++b) blocks.unpack(b);
        for (int b = 0; b < ahead; ++b) multiply(blocks.quants[b], x + b * tokens, sums_[b]);
        for (int b = 0; b < blocks.count; ++b, x += tokens) {
            if constexpr (unpacks) {
                ask_for_weights<type>(blocks.at(b) + prefetch_bytes);
                blocks.unpack(b + unpacked_ahead);
            }
            if (const int next = b + ahead; next < blocks.count)
                multiply(blocks.quants[next], x + ahead * tokens, sums_[next % kept]);
            add_sums(Scales<V, type>(blocks.at(b)), x, sums_[b % kept], total);
        }
#pragma GCC unroll 16
        for (int t = 0; t < rows; ++t)
            if (t >= without) V::store(y + t * stride, total[t]);
    }

  private:
    using Sums = std::int32_t[digits][rows][lanes];
    // Blocks by which tiles are ahead, so that sums are not loaded while they are stored. Of three
    // digits none, with which prompts are the slower for it (measured).
    static constexpr int ahead = digits == 1 ? 1 : 0, kept = ahead + 1;

    static constexpr TileConfig shapes() {
        TileConfig config;
        const auto shape = [&](int tile, int tile_rows, int row_bytes) {
            config.rows[tile] = static_cast<std::uint8_t>(tile_rows);
            config.row_bytes[tile] = static_cast<std::uint16_t>(row_bytes);
        };
        shape(tiles::weights, quads, 4 * lanes);
        for (int d = 0; d < digits; ++d) {
            shape(tiles::sums + d, rows, 4 * lanes);
            shape(tiles::activations + d, rows, digit_block);
        }
        return config;
    }
    inline void multiply(const std::uint8_t (&quants)[quads][4 * lanes],
                         const DigitBlock<digits>* x, Sums& sums) {
        Tiles::template load<tiles::weights>(quants, sizeof quants[0]);
        begin<0>(x);
        if constexpr (digits == 3) {
            begin<1>(x);
            begin<2>(x);
        }
        end<0>(sums);
        if constexpr (digits == 3) {
            end<1>(sums);
            end<2>(sums);
        }
    }
    template <int d>
    inline void begin(const DigitBlock<digits>* x) {
        constexpr int sums = tiles::sums + d, activations = tiles::activations + d;
        Tiles::template zero<sums>();
        Tiles::template load<activations>(x->digits[d], sizeof *x);
        Tiles::template dot<sums, activations, tiles::weights>();
    }
    template <int d>
    inline void end(Sums& sums) {
        Tiles::template store<tiles::sums + d>(sums[d], sizeof sums[d][0]);
    }
    inline void add_sums(const Scales<V, type>& weights, const DigitBlock<digits>* x,
                         const Sums& sums, typename V::Floats* total) {
#pragma GCC unroll 16
        for (int t = 0; t < rows; ++t) {
            typename V::Ints of_token[digits];
#pragma GCC unroll 3
            for (int d = 0; d < digits; ++d)
                of_token[d] = V::plus(V::load_ints(sums[d][t]), without_added<V, type>(x[t], d));
            total[t] = decode::add_sums<V, type, digits>(of_token, weights, x[t], total[t]);
        }
    }

    alignas(64) Sums sums_[kept];
};

// tokens: at least `rows`. The last tile begins so early that it is full.
template <class V, class Tiles, AssayType type, int digits, int rows>
void multiply_tiles(const std::byte* group, int columns, const DigitBlock<digits>* x, int tokens,
                    float* y, int stride) {
    for (int t = 0; t < tokens; ++t) V::store(y + t * stride, V::no_floats());
    const int blocks = columns / digit_block;
    UnpackedBlocks<V, type> some;
    TileProducts<V, Tiles, type, digits, rows> products;
    for (int b = 0; b < blocks; b += blocks_together) {
        some.blocks = group + b * Block<type>::bytes;
        some.count = blocks - b < blocks_together ? blocks - b : blocks_together;
        products.template add<true>(some, x + b * tokens, tokens, 0, y, stride);
        for (int t = rows; t < tokens; t += rows) {
            const int first = t + rows <= tokens ? t : tokens - rows;
            products.template add<false>(some, x + b * tokens + first, tokens, t - first,
                                         y + first * stride, stride);
        }
    }
}

template <class V, class Tiles, int digits, int rows>
void multiply_with_tiles_of(AssayType type, const std::byte* group, int columns,
                            const DigitBlock<digits>* x, int tokens, float* y, int stride) {
    const auto run = type == ASSAY_Q8_0   ? multiply_tiles<V, Tiles, ASSAY_Q8_0, digits, rows>
                     : type == ASSAY_Q4_0 ? multiply_tiles<V, Tiles, ASSAY_Q4_0, digits, rows>
                                          : multiply_tiles<V, Tiles, ASSAY_Q4_1, digits, rows>;
    run(group, columns, x, tokens, y, stride);
}

// Where tokens do not fill a tile, tiles of half as many rows are half as fast again as dot
// products of vectors (Emerald Rapids); of fewer rows they are not.
template <class V, class Tiles, int digits>
void multiply_with_tiles(AssayType type, const std::byte* group, int columns,
                         const DigitBlock<digits>* x, int tokens, float* y, int stride) {
    constexpr int few = tile_rows / 2;
    if (tokens >= tile_rows)
        multiply_with_tiles_of<V, Tiles, digits, tile_rows>(type, group, columns, x, tokens, y,
                                                            stride);
    else if (tokens >= few)
        multiply_with_tiles_of<V, Tiles, digits, few>(type, group, columns, x, tokens, y, stride);
    else
        multiply<V, digits>(type, group, columns, x, tokens, y, stride);
}

template <class V, class Tiles>
constexpr Loops with_tiles(const char* name) {
    Loops loops = loops_of<V>(name);
    loops.multiply_exact = multiply_with_tiles<V, Tiles, 3>;
    loops.multiply_int8 = multiply_with_tiles<V, Tiles, 1>;
    return loops;
}

}  // namespace assay::decode
