// The kernels of row_scores_kernels.hpp on the tensor cores, for bf16 whose lines are whole pieces
// of 16 bytes. Products of bf16 numbers are exact, sums are fp32 (the tensor cores cut off where
// fp32 rounds). What is no bf16 number by itself, the target's gradient under pip, is rounded to
// one, as libtorch's product in bf16 would; scores then carry that rounding, half a unit in the
// last of eight bits of each of its numbers.
#pragma once

#include "kernels/cuda/device/score_tiles.hpp"

namespace assay::kernels::cuda {

using NarrowTile = TileSums<2, 2, 4>;  ///< 64 x 64: projections are not wider
static_assert(OfWarps::Tile::rows == score_tile && OfWarpgroups::Tile::rows == score_tile &&
              OfWarps::Tile::columns == score_tile && OfWarpgroups::Tile::columns == score_tile &&
              NarrowTile::rows == narrow_score_tile);

ASSAY_DEVICE const std::uint16_t* bf16(const void* from) {
    return static_cast<const std::uint16_t*>(from);
}

/// The sum over the block's threads, in its first thread.
ASSAY_DEVICE float sum_of_block(float value) {
    float* const per_warp = block_memory();
    float values[1] = {value};
    warp_sum(values);
    if (thread_index() % lanes == 0) per_warp[thread_index() / lanes] = values[0];
    block_barrier();
    float sum = 0;
    for (int w = 0; w < score_threads / lanes; ++w) sum += per_warp[w];
    return sum;
}

/// Goes through the tokens of rows that count, score_depth at a time.
struct RowCursor {
    const float* weights;  ///< null: each row counts once
    int rows, tokens;
    int row = 0;
    int token = 0;

    ASSAY_DEVICE float weight() const { return weights ? weights[row] : 1.0f; }
    ASSAY_DEVICE void skip() {
        while (row < rows && weight() == 0) ++row;
    }
    ASSAY_DEVICE void next() {
        token += score_depth;
        if (token < tokens) return;
        token = 0;
        ++row;
        skip();
    }
};

/// A kernel's parameter: as GradientOf, of all rows together.
struct TileGradientOf {
    const void* x;
    const void* go;
    const float* weights;
    void* gradient;  ///< [out][in], fp32 or bf16
    int out, in, tokens, rows;
};

/// `Number`: float, or std::uint16_t for bf16.
template <class Products, class Number>
ASSAY_KERNEL(score_threads, 2)
gradient_tiles_kernel(ASSAY_PARAMETER TileGradientOf call) {
    const TileOfBlock tile =
        tile_of_block(score_tiles(call.out, score_tile), score_tiles(call.in, score_tile));
    const std::int64_t first_o = static_cast<std::int64_t>(tile.row) * score_tile;
    const std::int64_t first_i = static_cast<std::int64_t>(tile.column) * score_tile;
    wait_for_previous_kernel();
    allow_next_kernel();

    bool stored = false;
    const auto store = [&](std::int64_t o, std::int64_t i, float value) {
        if (o >= call.out || i >= call.in) return;
        Number* const to = static_cast<Number*>(call.gradient) + o * call.in + i;
        if constexpr (sizeof(Number) == sizeof(float))
            *to = stored ? *to + value : value;
        else
            *to = static_cast<std::uint16_t>(round_to_bf16(value));
    };
    RowCursor asked{call.weights, call.rows, call.tokens};
    asked.skip();
    RowCursor here = asked;
    int steps = 0;
    const int steps_of_row = (call.tokens + score_depth - 1) / score_depth;
    for (int row = 0; row < call.rows; ++row)
        if (!call.weights || call.weights[row] != 0) steps += steps_of_row;

    using Tile = typename Products::Tile;
    Tile sums;
    sums.clear();
    const auto store_sums = [&](float factor) {
        sums.each([&](int row, int column, float sum) {
            store(first_o + row, first_i + column, factor * sum);
        });
    };
    // Sums are of this weight's rows. Where the next row has another, they are turned into as many
    // of that, which rounds once; where that could overflow, they are stored and begun anew.
    // `largest`: of the weights, without sign, whose rows are in the sums.
    const auto size_of = [](float value) { return value < 0 ? -value : value; };
    float weight = here.row < call.rows ? here.weight() : 1.0f;
    float largest = size_of(weight);
    const auto turn_to = [&](float next) {
        constexpr float most = 1e6f;
        const float factor = weight / next, reach = largest / size_of(next);
        if (sizeof(Number) != sizeof(float) || (reach < most && reach > 1 / most)) {
            sums.each([&](int, int, float& sum) { sum *= factor; });
            if (size_of(next) > largest) largest = size_of(next);
        } else {
            store_sums(weight);
            stored = true;
            sums.clear();
            largest = size_of(next);
        }
        weight = next;
    };
    add_in_stages<Products, ByTerms>(
        sums, steps,
        [&](int, std::uint16_t* go_memory, std::uint16_t* x_memory) {
            const std::int64_t before = static_cast<std::int64_t>(asked.row) * call.tokens;
            const ByTerms go{bf16(call.go), first_o, call.out, before, call.tokens};
            const ByTerms x{bf16(call.x), first_i, call.in, before, call.tokens};
            go.template copy<Tile::rows>(go_memory, asked.token);
            x.template copy<Tile::columns>(x_memory, asked.token);
            asked.next();
        },
        [&](int) {
            if (here.token == 0 && here.weight() != weight) turn_to(here.weight());
            here.next();
        });
    store_sums(weight);
}

template <class Products>
ASSAY_KERNEL(score_threads, 2)
pip_tiles_kernel(ASSAY_PARAMETER AssayRowScores call, const std::uint16_t* gradient, float* parts) {
    const int down = score_tiles(call.tokens, score_tile);  // of a row
    const int across = score_tiles(call.out, score_tile);
    const TileOfBlock tile = tile_of_block(down * call.rows, across);
    const int row = tile.row / down;
    const std::int64_t before = static_cast<std::int64_t>(row) * call.tokens;
    const std::int64_t first_s = static_cast<std::int64_t>(tile.row % down) * score_tile;
    const std::int64_t first_o = static_cast<std::int64_t>(tile.column) * score_tile;
    wait_for_previous_kernel();
    allow_next_kernel();

    typename Products::Tile sums;
    sums.clear();
    multiply_by_rows<Products>(sums,
                               {bf16(call.x) + before * call.in, first_s, call.tokens, call.in},
                               {gradient, first_o, call.out, call.in});
    float part = 0;
    sums.each([&](int s_of_tile, int o_of_tile, float sum) {
        const std::int64_t s = first_s + s_of_tile, o = first_o + o_of_tile;
        if (s >= call.tokens || o >= call.out) return;
        const std::uint32_t go = bf16(call.go)[(before + s) * call.out + o];
        part += sum * from_bits(go << 16);
    });
    const float sum = sum_of_block(part);
    if (thread_index() == 0)
        parts[(static_cast<std::int64_t>(row) * down + tile.row % down) * across + tile.column] =
            sum;
}

template <class Products>
ASSAY_KERNEL(score_threads, 1)
gip_tiles_kernel(ASSAY_PARAMETER AssayRowScores call, float* parts) {
    const int tiles = score_tiles(call.tokens, score_tile);  // of a row, of a target row
    const int across = tiles * call.target_rows;
    const TileOfBlock tile = tile_of_block(tiles * call.rows, across);
    const int row = tile.row / tiles;
    const std::int64_t before = static_cast<std::int64_t>(row) * call.tokens;
    const std::int64_t other = static_cast<std::int64_t>(tile.column / tiles) * call.tokens;
    const std::int64_t first_s = static_cast<std::int64_t>(tile.row % tiles) * score_tile;
    const std::int64_t first_t = static_cast<std::int64_t>(tile.column % tiles) * score_tile;
    wait_for_previous_kernel();
    allow_next_kernel();

    // Tokens beyond the ends are zeros in both products.
    using Tile = typename Products::Tile;
    const auto products = [&](Tile& sums, const void* a, const void* b, std::int64_t width) {
        sums.clear();
        multiply_by_rows<Products>(sums, {bf16(a) + before * width, first_s, call.tokens, width},
                                   {bf16(b) + other * width, first_t, call.tokens, width});
    };
    Tile of_go, of_x;
    products(of_go, call.go, call.target_go, call.out);
    products(of_x, call.x, call.target_x, call.in);
    float part = 0;
#pragma unroll
    for (int i = 0; i < Tile::rows_of_warp; ++i)
#pragma unroll
        for (int j = 0; j < Tile::columns_of_warp; ++j)
#pragma unroll
            for (int v = 0; v < 4; ++v) part += of_go.sum[i][j][v] * of_x.sum[i][j][v];
    const float sum = sum_of_block(part);
    if (thread_index() == 0)
        parts[(static_cast<std::int64_t>(row) * tiles + tile.row % tiles) * across + tile.column] =
            sum;
}

/// A kernel's parameter, as Projection: to[t][j] = <from[t], projection[j]>.
struct TileProjection {
    const void* from;        ///< [tokens][width]
    const void* projection;  ///< [columns][width]
    float* to;               ///< [tokens][columns]
    std::int64_t tokens;
    int width, columns;
};

ASSAY_KERNEL(score_threads, 2)
project_tiles_kernel(ASSAY_PARAMETER TileProjection call) {
    const TileOfBlock tile = tile_of_block(score_tiles(call.tokens, narrow_score_tile),
                                           score_tiles(call.columns, narrow_score_tile));
    const std::int64_t first_t = static_cast<std::int64_t>(tile.row) * narrow_score_tile;
    const std::int64_t first_j = static_cast<std::int64_t>(tile.column) * narrow_score_tile;
    wait_for_previous_kernel();
    allow_next_kernel();

    NarrowTile sums;
    sums.clear();
    multiply_by_rows<OfWarps>(sums, {bf16(call.from), first_t, call.tokens, call.width},
                              {bf16(call.projection), first_j, call.columns, call.width});
    sums.each([&](int row, int column, float sum) {
        const std::int64_t t = first_t + row, j = first_j + column;
        if (t < call.tokens && j < call.columns) call.to[t * call.columns + j] = sum;
    });
}

}  // namespace assay::kernels::cuda
