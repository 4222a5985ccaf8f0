// Products of bf16 matrices on the tensor cores, a block's part of them: a tile of sums,
// `score_depth` terms at a time. Operands travel to block memory in 16-byte pieces, without
// registers, while the tensor cores multiply those of two steps before; eight warps hold the sums.
// Either each warp reads its fragments by ldmatrix and multiplies by itself (OfWarps), or four
// warps together multiply what lies in block memory (OfWarpgroups, where the device has that). Both
// want pieces that lie crosswise in lines of 128 bytes, so that neither stores nor reads meet in a
// bank.
//
// A matrix whose terms are neighbours in memory is a ByRows, one whose terms are lines a ByTerms.
// Both need lines of whole pieces, aligned to 16 bytes; beyond their ends there are zeros.
#pragma once

#include "kernels/cuda/device/machine.hpp"
#include "kernels/cuda/device/tiles.hpp"
#include "kernels/cuda/host/row_scores_plan.hpp"

namespace assay::kernels::cuda {

constexpr int piece = 8;  ///< bf16 numbers of 16 bytes
constexpr int pieces_deep = score_depth / piece;
static_assert(pieces_deep == 8, "a line of operands in block memory is 128 bytes");

/// from[rows][width]: `lines` rows from `first` on are an operand, the width is its terms.
struct ByRows {
    static constexpr bool terms_are_lines = false;
    const std::uint16_t* from;
    std::int64_t first, rows, width;

    /// Where piece `terms` of line `line` lies, in pieces of the operand's memory.
    ASSAY_DEVICE static int place(int line, int terms) {
        return line * pieces_deep + (terms ^ line % pieces_deep);
    }
    template <int lines>
    ASSAY_DEVICE void copy(std::uint16_t* memory, std::int64_t first_term) const {
#pragma unroll
        for (int e = thread_index(); e < lines * pieces_deep; e += score_threads) {
            const int line = e / pieces_deep, terms = e % pieces_deep;
            const std::int64_t row = first + line, term = first_term + terms * piece;
            const bool there = row < rows && term < width;
            copy_piece(memory + place(line, terms) * piece,
                       there ? from + row * width + term : from, there);
        }
    }
    /// 16 lines from `line` on, 16 terms from piece `terms` on: as multiply_tile() wants its a, or
    /// (`terms_first`) its b of two neighbouring tiles, each tile's terms beside each other.
    ASSAY_DEVICE static void load(const std::uint16_t* memory, int line, int terms,
                                  bool terms_first, std::uint32_t (&words)[4]) {
        const int lane = thread_index() % lanes, upper = lane / 16, lower = lane / 8 % 2;
        const int mine = line + (terms_first ? upper : lower) * 8 + lane % 8;
        const int at = terms + (terms_first ? lower : upper);
        load_matrices(memory + place(mine, at) * piece, words);
    }
};

/// from[terms][width]: `lines` columns from `first` on are an operand, its terms the lines from
/// `before` on, of which there are `terms`.
struct ByTerms {
    static constexpr bool terms_are_lines = true;
    const std::uint16_t* from;
    std::int64_t first, width, before, terms;

    /// 64 columns after the other, each `score_depth` lines of 128 bytes.
    ASSAY_DEVICE static int place(int term, int columns) {
        return columns / 8 * 8 * score_depth + term * 8 + (columns % 8 ^ term % 8);
    }
    template <int lines>
    ASSAY_DEVICE void copy(std::uint16_t* memory, std::int64_t first_term) const {
        constexpr int across = lines / piece;
#pragma unroll
        for (int e = thread_index(); e < score_depth * across; e += score_threads) {
            const int term = e / across, columns = e % across;
            const std::int64_t at = first_term + term, column = first + columns * piece;
            const bool there = at < terms && column < width;
            copy_piece(memory + place(term, columns) * piece,
                       there ? from + (before + at) * width + column : from, there);
        }
    }
    ASSAY_DEVICE static void load(const std::uint16_t* memory, int line, int first_terms,
                                  bool terms_first, std::uint32_t (&words)[4]) {
        const int lane = thread_index() % lanes, upper = lane / 16, lower = lane / 8 % 2;
        const int term = first_terms * piece + (terms_first ? lower : upper) * 8 + lane % 8;
        const int columns = line / piece + (terms_first ? upper : lower);
        load_matrices_across(memory + place(term, columns) * piece, words);
    }
};

/// A thread's sums of a tile, and which they are: of eight warps, `warps_across` beside each other,
/// each has tiles of 16 by 8, so many down and across.
template <int row_steps, int column_steps, int warps_across>
struct TileSums {
    static constexpr int rows_of_warp = row_steps, columns_of_warp = column_steps;  ///< in tiles
    static constexpr int warps_down = score_threads / lanes / warps_across;
    static constexpr int rows = warps_down * 16 * row_steps,
                         columns = warps_across * 8 * column_steps;
    float sum[row_steps][column_steps][4];

    ASSAY_DEVICE void clear() {
#pragma unroll
        for (int i = 0; i < row_steps; ++i)
#pragma unroll
            for (int j = 0; j < column_steps; ++j)
#pragma unroll
                for (int v = 0; v < 4; ++v) sum[i][j][v] = 0;
    }
    /// visit(row in the tile, column in the tile, sum)
    template <class Visit>
    ASSAY_DEVICE void each(const Visit& visit) {
        const int lane = thread_index() % lanes;
#pragma unroll
        for (int i = 0; i < row_steps; ++i)
#pragma unroll
            for (int j = 0; j < column_steps; ++j)
#pragma unroll
                for (int v = 0; v < 4; ++v)
                    visit(first_row() + 16 * i + lane / 4 + v / 2 * 8,
                          first_column() + 8 * j + lane % 4 * 2 + v % 2, sum[i][j][v]);
    }
    /// Of this thread's warp.
    ASSAY_DEVICE static int first_row() {
        return thread_index() / lanes / warps_across * 16 * row_steps;
    }
    ASSAY_DEVICE static int first_column() {
        return thread_index() / lanes % warps_across * 8 * column_steps;
    }

    /// Adds the terms that lie in block memory, as `Operand` (ByRows, ByTerms) put both there.
    template <class Operand>
    ASSAY_DEVICE void add(const std::uint16_t* a_memory, const std::uint16_t* b_memory) {
        static_assert(column_steps % 2 == 0, "b is loaded for two tiles at a time");
#pragma unroll
        for (int terms = 0; terms < pieces_deep; terms += 2) {
            std::uint32_t a[row_steps][4], b[column_steps / 2][4];
#pragma unroll
            for (int i = 0; i < row_steps; ++i)
                Operand::load(a_memory, first_row() + 16 * i, terms, false, a[i]);
#pragma unroll
            for (int j = 0; j < column_steps / 2; ++j)
                Operand::load(b_memory, first_column() + 16 * j, terms, true, b[j]);
#pragma unroll
            for (int i = 0; i < row_steps; ++i)
#pragma unroll
                for (int j = 0; j < column_steps; ++j)
                    multiply_tile(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }
};

/// Each warp multiplies by itself.
struct OfWarps {
    static constexpr bool out_of_memory = false;  ///< of the block, without registers
    using Tile = TileSums<4, 4, 4>;               ///< 128 x 128
    template <class Operand, class AnyTile, class Meanwhile>
    ASSAY_DEVICE static void add(AnyTile& sums, const std::uint16_t* a, const std::uint16_t* b,
                                 const Meanwhile& meanwhile) {
        meanwhile();
        sums.template add<Operand>(a, b);
    }
};
/// Four warps multiply together: 64 rows of a by all columns of b, straight out of block memory.
struct OfWarpgroups {
    static constexpr bool out_of_memory = true;
    using Tile = TileSums<1, 16, 1>;  ///< 128 x 128
    template <class Operand, class Meanwhile>
    ASSAY_DEVICE static void add(Tile& sums, const std::uint16_t* a, const std::uint16_t* b,
                                 const Meanwhile& meanwhile) {
        // 64 rows are as large whichever way they lie.
        const std::uint16_t* const mine = a + thread_index() / (4 * lanes) * 64 * score_depth;
        multiply_together<Operand::terms_are_lines>(sums.sum[0], mine, b);
        meanwhile();
        wait_for_products(sums.sum[0]);
    }
};

/// Copies and sums in turns: copy(step, a's memory, b's memory) asks for a step's pieces, each of
/// which begin(step) precedes when it is added to the sums, by `Products` (OfWarps, OfWarpgroups)
/// of `Operand` (ByRows, ByTerms). Afterwards block memory is free.
template <class Products, class Operand, class Tile, class Copy, class Begin>
ASSAY_DEVICE void add_in_stages(Tile& sums, int steps, const Copy& copy, const Begin& begin) {
    constexpr int a_numbers = Tile::rows * score_depth;
    constexpr int stage_numbers = a_numbers + Tile::columns * score_depth;
    std::uint16_t* const memory = reinterpret_cast<std::uint16_t*>(block_memory());
    const auto ask = [&](int step) {
        std::uint16_t* const stage = memory + step % score_stages * stage_numbers;
        if (step < steps) copy(step, stage, stage + a_numbers);
        end_of_copies();  // an empty group, too: groups are counted
    };
#pragma unroll
    for (int step = 0; step < score_stages - 1; ++step) ask(step);
    for (int step = 0; step < steps; ++step) {
        wait_for_copies<score_stages - 2>();
        if constexpr (Products::out_of_memory) show_copies();
        block_barrier();  // everyone's pieces are there, and the stage before is no longer read
        const std::uint16_t* const stage = memory + step % score_stages * stage_numbers;
        begin(step);
        Products::template add<Operand>(sums, stage, stage + a_numbers,
                                        [&] { ask(step + score_stages - 1); });
    }
    wait_for_copies<0>();
    block_barrier();
}

/// sums += a's rows times b's rows, over their width. `Products`: OfWarps, OfWarpgroups.
template <class Products, class Tile>
ASSAY_DEVICE void multiply_by_rows(Tile& sums, const ByRows& a, const ByRows& b) {
    const int steps = static_cast<int>((a.width + score_depth - 1) / score_depth);
    add_in_stages<Products, ByRows>(
        sums, steps,
        [&](int step, std::uint16_t* a_memory, std::uint16_t* b_memory) {
            a.template copy<Tile::rows>(a_memory, static_cast<std::int64_t>(step) * score_depth);
            b.template copy<Tile::columns>(b_memory, static_cast<std::int64_t>(step) * score_depth);
        },
        [](int) {});
}

/// Which tile a block makes: blocks that run side by side share lines of both operands, in bands of
/// so many tiles.
struct TileOfBlock {
    int row, column;
};
ASSAY_DEVICE TileOfBlock tile_of_block(int tiles_down, int tiles_across) {
    const int block = block_index().x, band = block / (score_band * tiles_across);
    const int left = tiles_down - band * score_band;
    const int height = left < score_band ? left : score_band;
    const int within = block - band * score_band * tiles_across;
    return {band * score_band + within % height, within / height};
}

}  // namespace assay::kernels::cuda
