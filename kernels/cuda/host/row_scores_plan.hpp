// Launches and workspace of scores and gradients of rows (device/row_scores_kernels.hpp): plain
// arithmetic, tested without a GPU.
#pragma once

#include <cstddef>

#include "kernels/cuda/host/launch_plan.hpp"

namespace assay::kernels::cuda {

/// A block makes a tile of `product_tile` squared sums, `product_depth` terms of each at a time;
/// each thread a square of `product_square` squared.
constexpr int product_tile = 64, product_depth = 16, product_square = 4;
constexpr int product_threads = (product_tile / product_square) * (product_tile / product_square);
constexpr int product_blocks_per_multiprocessor = 3;
/// A line of a tile in block memory; the words behind it keep lanes in different banks.
constexpr int product_line = product_tile + 4;
constexpr int parts_threads = 128;

constexpr int product_tiles(std::int64_t size) {
    return static_cast<int>((size + product_tile - 1) / product_tile);
}

// On the tensor cores (device/score_tiles.hpp). A block of eight warps makes a tile of so many sums
// squared; three steps of `score_depth` terms are in block memory at a time, 96 KB for the wide
// tile. Steps half as deep took 2 to 16 % longer on an H100; other GPUs have not been measured.
constexpr int score_tile = 128, narrow_score_tile = 64;
constexpr int score_depth = 64, score_stages = 3, score_threads = 256;
/// Tiles of a band (tile_of_block()).
constexpr int score_band = 8;

constexpr int score_tiles(std::int64_t size, int tile) {
    return static_cast<int>((size + tile - 1) / tile);
}

/// Whether the tensor cores multiply: bf16 whose lines are whole pieces of 16 bytes, at addresses
/// aligned to 16, in no more tiles than a launch has blocks.
bool scores_by_tiles(const Device& device, const AssayRowScores& call);
bool gradient_by_tiles(const Device& device, const AssayWeightGradient& call);
/// A block per tile.
Launch score_tiles_launch(std::int64_t tiles_down, std::int64_t tiles_across, int tile);

/// In floats from the workspace's beginning.
struct RowScoresLayout {
    std::size_t gradient = 0;  ///< pip: [O][I]; compressed: [n + m][a][b]
    std::size_t outs = 0;      ///< compressed: [n + m][T][a]
    std::size_t ins = 0;       ///< compressed: [n + m][T][b]
    std::size_t parts = 0;     ///< pip, gip: [n][parts of a row]
    int parts_of_row = 0;
    std::size_t bytes = 0;
};
RowScoresLayout row_scores_layout(const AssayRowScores& call);

/// A block per tile of a product of `rows` by `columns`, `of_rows` times.
Launch product_launch(std::int64_t rows, std::int64_t columns, int of_rows);
/// Parts of a row's score are added up: a block per row.
Launch parts_launch(int rows);

}  // namespace assay::kernels::cuda
