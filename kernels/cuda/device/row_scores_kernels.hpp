// Scores of rows by their gradients of a linear map, and the gradient of chosen rows. What they
// compute is said in kernels/assay_kernels.h.
//
// gradient  a tile of Σ weights_b Σ_s go_b[s]ᵀ x_b[s] for each block; a row of weight 0 is not
// read.
//           Of the target's rows for pip, of the chosen ones for the step
// pip       a tile of x_b G_tᵀ, tokens by outputs, multiplied by go_b and added up
// gip       a tile of tokens of a row by tokens of a target row: products of go times products of x
// project   a tile of tokens by projected columns
// parts     a row's parts, or its compressed gradient times the target's, added up in one order
//
// fp32 sums by fused multiply-adds, out of tiles in block memory that hold fp32; bf16 in whole
// pieces goes to the tensor cores instead (score_tiles_kernels.hpp). No atomics: the same bits
// every time.
#pragma once

#include "kernels/cuda/device/machine.hpp"
#include "kernels/cuda/host/row_scores_plan.hpp"

namespace assay::kernels::cuda {

struct F32Element {
    static constexpr AssayType type = ASSAY_F32;
    ASSAY_DEVICE static float at(const void* from, std::int64_t place) {
        return static_cast<const float*>(from)[place];
    }
};
struct Bf16Element {
    static constexpr AssayType type = ASSAY_BF16;
    ASSAY_DEVICE static float at(const void* from, std::int64_t place) {
        return from_bits(static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(from)[place])
                         << 16);
    }
};

/// A thread's square of a tile's sums.
struct Square {
    float sum[product_square][product_square];
};
ASSAY_DEVICE void clear(Square& square) {
#pragma unroll
    for (int i = 0; i < product_square; ++i)
#pragma unroll
        for (int j = 0; j < product_square; ++j) square.sum[i][j] = 0;
}
/// The first row and column of this thread's square in the tile.
ASSAY_DEVICE int square_row() {
    return thread_index() / (product_tile / product_square) * product_square;
}
ASSAY_DEVICE int square_column() {
    return thread_index() % (product_tile / product_square) * product_square;
}

/// Adds the terms that lie in block memory: lines of `a` and `b`, one for each term.
ASSAY_DEVICE void add_lines(Square& square, const float* a, const float* b) {
    const int row = square_row(), column = square_column();
    for (int term = 0; term < product_depth; ++term) {
        const Floats4 left = load_floats4(a + term * product_line + row);
        const Floats4 right = load_floats4(b + term * product_line + column);
#pragma unroll
        for (int i = 0; i < product_square; ++i)
#pragma unroll
            for (int j = 0; j < product_square; ++j)
                square.sum[i][j] += left.value[i] * right.value[j];
    }
}

/// Fills lines of block memory: line `term`, place `i` is fetch(i, first + term), 0 beyond the
/// ends. `along_rows`: neighbours in memory are places, otherwise terms.
template <bool along_rows, class Fetch>
ASSAY_DEVICE void fill_lines(float* lines, std::int64_t first_row, std::int64_t rows,
                             std::int64_t first_term, std::int64_t terms, const Fetch& fetch) {
    constexpr int each = product_tile * product_depth / product_threads;
#pragma unroll
    for (int q = 0; q < each; ++q) {
        const int e = thread_index() + q * product_threads;
        const int i = along_rows ? e % product_tile : e / product_depth;
        const int term = along_rows ? e / product_tile : e % product_depth;
        const std::int64_t row = first_row + i, at = first_term + term;
        lines[term * product_line + i] = row < rows && at < terms ? fetch(row, at) : 0.0f;
    }
}

/// square += a's rows times b's rows, both [rows][width], over the width.
template <class A, class B>
ASSAY_DEVICE void multiply_rows(Square& square, std::int64_t first_a, std::int64_t a_rows,
                                std::int64_t first_b, std::int64_t b_rows, std::int64_t width,
                                const A& a, const B& b) {
    float* const a_lines = block_memory();
    float* const b_lines = a_lines + product_depth * product_line;
    for (std::int64_t term = 0; term < width; term += product_depth) {
        fill_lines<false>(a_lines, first_a, a_rows, term, width, a);
        fill_lines<false>(b_lines, first_b, b_rows, term, width, b);
        block_barrier();
        add_lines(square, a_lines, b_lines);
        block_barrier();
    }
}

/// The sum over the block's threads, in every one of its first warp.
ASSAY_DEVICE float block_sum(float value, float* per_warp, int warps) {
    float values[1] = {value};
    warp_sum(values);
    if (thread_index() % lanes == 0) per_warp[thread_index() / lanes] = values[0];
    block_barrier();
    float sum = 0;
    for (int w = 0; w < warps; ++w) sum += per_warp[w];
    block_barrier();
    return sum;
}

/// A kernel's parameter. Rows of one tensor, or each on its own (`per_row`).
struct GradientOf {
    const void* x;
    const void* go;
    const float* weights;  ///< null: each row counts once
    float* gradient;       ///< [out][in]; per_row: [rows][out][in]
    int out, in, tokens, rows;
    int per_row;
};

template <class Element>
ASSAY_KERNEL(product_threads, product_blocks_per_multiprocessor)
gradient_kernel(ASSAY_PARAMETER GradientOf call) {
    const int across = product_tiles(call.in);
    const std::int64_t first_o = static_cast<std::int64_t>(block_index().x / across) * product_tile;
    const std::int64_t first_i = static_cast<std::int64_t>(block_index().x % across) * product_tile;
    const int first_row = call.per_row ? block_index().y : 0;
    const int last_row = call.per_row ? first_row + 1 : call.rows;
    float* const go_lines = block_memory();
    float* const x_lines = go_lines + product_depth * product_line;
    wait_for_previous_kernel();
    allow_next_kernel();

    Square square;
    clear(square);
    for (int row = first_row; row < last_row; ++row) {
        const float weight = call.weights ? call.weights[row] : 1.0f;
        if (weight == 0) continue;  // for all threads of the block
        const std::int64_t before = static_cast<std::int64_t>(row) * call.tokens;
        for (std::int64_t token = 0; token < call.tokens; token += product_depth) {
            fill_lines<true>(go_lines, first_o, call.out, token, call.tokens,
                             [&](std::int64_t o, std::int64_t s) {
                                 return weight * Element::at(call.go, (before + s) * call.out + o);
                             });
            fill_lines<true>(x_lines, first_i, call.in, token, call.tokens,
                             [&](std::int64_t i, std::int64_t s) {
                                 return Element::at(call.x, (before + s) * call.in + i);
                             });
            block_barrier();
            add_lines(square, go_lines, x_lines);
            block_barrier();
        }
    }
    float* const to =
        call.gradient +
        (call.per_row ? static_cast<std::int64_t>(first_row) * call.out * call.in : 0);
#pragma unroll
    for (int i = 0; i < product_square; ++i)
#pragma unroll
        for (int j = 0; j < product_square; ++j) {
            const std::int64_t o = first_o + square_row() + i, at = first_i + square_column() + j;
            if (o < call.out && at < call.in) to[o * call.in + at] = square.sum[i][j];
        }
}

template <class Element>
ASSAY_KERNEL(product_threads, product_blocks_per_multiprocessor)
pip_kernel(ASSAY_PARAMETER AssayRowScores call, const float* gradient, float* parts) {
    const int across = product_tiles(call.out);
    const std::int64_t first_s = static_cast<std::int64_t>(block_index().x / across) * product_tile;
    const std::int64_t first_o = static_cast<std::int64_t>(block_index().x % across) * product_tile;
    const std::int64_t before = static_cast<std::int64_t>(block_index().y) * call.tokens;
    wait_for_previous_kernel();
    allow_next_kernel();

    Square square;
    clear(square);
    multiply_rows(
        square, first_s, call.tokens, first_o, call.out, call.in,
        [&](std::int64_t s, std::int64_t i) {
            return Element::at(call.x, (before + s) * call.in + i);
        },
        [&](std::int64_t o, std::int64_t i) { return gradient[o * call.in + i]; });
    float part = 0;
#pragma unroll
    for (int i = 0; i < product_square; ++i)
#pragma unroll
        for (int j = 0; j < product_square; ++j) {
            const std::int64_t s = first_s + square_row() + i, o = first_o + square_column() + j;
            if (s < call.tokens && o < call.out)
                part += square.sum[i][j] * Element::at(call.go, (before + s) * call.out + o);
        }
    const float sum = block_sum(part, block_memory(), product_threads / lanes);
    if (thread_index() == 0)
        parts[static_cast<std::int64_t>(block_index().y) * blocks_in_grid().x + block_index().x] =
            sum;
}

template <class Element>
ASSAY_KERNEL(product_threads, product_blocks_per_multiprocessor)
gip_kernel(ASSAY_PARAMETER AssayRowScores call, float* parts) {
    const int across = product_tiles(call.tokens), tiles = across * across;
    const int target_row = block_index().x / tiles, tile = block_index().x % tiles;
    const std::int64_t first_s = static_cast<std::int64_t>(tile / across) * product_tile;
    const std::int64_t first_t = static_cast<std::int64_t>(tile % across) * product_tile;
    const std::int64_t row = static_cast<std::int64_t>(block_index().y) * call.tokens;
    const std::int64_t other = static_cast<std::int64_t>(target_row) * call.tokens;
    wait_for_previous_kernel();
    allow_next_kernel();

    const auto products = [&](const void* a, const void* b, std::int64_t width, Square& square) {
        clear(square);
        multiply_rows(
            square, first_s, call.tokens, first_t, call.tokens, width,
            [&](std::int64_t s, std::int64_t i) { return Element::at(a, (row + s) * width + i); },
            [&](std::int64_t s, std::int64_t i) {
                return Element::at(b, (other + s) * width + i);
            });
    };
    Square of_go, of_x;
    products(call.go, call.target_go, call.out, of_go);
    products(call.x, call.target_x, call.in, of_x);
    float part = 0;
#pragma unroll
    for (int i = 0; i < product_square; ++i)
#pragma unroll
        for (int j = 0; j < product_square; ++j) {
            const bool there = first_s + square_row() + i < call.tokens &&
                               first_t + square_column() + j < call.tokens;
            if (there) part += of_go.sum[i][j] * of_x.sum[i][j];
        }
    const float sum = block_sum(part, block_memory(), product_threads / lanes);
    if (thread_index() == 0)
        parts[static_cast<std::int64_t>(block_index().y) * blocks_in_grid().x + block_index().x] =
            sum;
}

/// A kernel's parameter: to[t][j] = <from[t], projection[j]>.
struct Projection {
    const void* from;        ///< [tokens][width]
    const void* projection;  ///< [columns][width]
    float* to;               ///< [tokens][columns]
    std::int64_t tokens;
    int width, columns;
};

template <class Element>
ASSAY_KERNEL(product_threads, product_blocks_per_multiprocessor)
project_kernel(ASSAY_PARAMETER Projection call) {
    const int across = product_tiles(call.columns);
    const std::int64_t first_t = static_cast<std::int64_t>(block_index().x / across) * product_tile;
    const std::int64_t first_j = static_cast<std::int64_t>(block_index().x % across) * product_tile;
    wait_for_previous_kernel();
    allow_next_kernel();

    Square square;
    clear(square);
    multiply_rows(
        square, first_t, call.tokens, first_j, call.columns, call.width,
        [&](std::int64_t t, std::int64_t i) { return Element::at(call.from, t * call.width + i); },
        [&](std::int64_t j, std::int64_t i) {
            return Element::at(call.projection, j * call.width + i);
        });
#pragma unroll
    for (int i = 0; i < product_square; ++i)
#pragma unroll
        for (int j = 0; j < product_square; ++j) {
            const std::int64_t t = first_t + square_row() + i, at = first_j + square_column() + j;
            if (t < call.tokens && at < call.columns)
                call.to[t * call.columns + at] = square.sum[i][j];
        }
}

ASSAY_KERNEL(parts_threads, 1)
add_parts_kernel(const float* parts, int parts_of_row, float* scores) {
    wait_for_previous_kernel();
    allow_next_kernel();
    const float* const of_row = parts + static_cast<std::int64_t>(block_index().x) * parts_of_row;
    float part = 0;
    for (int i = thread_index(); i < parts_of_row; i += parts_threads) part += of_row[i];
    const float sum = block_sum(part, block_memory(), parts_threads / lanes);
    if (thread_index() == 0) scores[block_index().x] = sum;
}

ASSAY_KERNEL(parts_threads, 1)
compressed_scores_kernel(const float* gradients, int size, int rows, int target_rows,
                         float* scores) {
    wait_for_previous_kernel();
    allow_next_kernel();
    const float* const mine = gradients + static_cast<std::int64_t>(block_index().x) * size;
    const float* const target = gradients + static_cast<std::int64_t>(rows) * size;
    float part = 0;
    for (int i = thread_index(); i < size; i += parts_threads) {
        float wanted = 0;
        for (int v = 0; v < target_rows; ++v)
            wanted += target[static_cast<std::int64_t>(v) * size + i];
        part += mine[i] * wanted;
    }
    const float sum = block_sum(part, block_memory(), parts_threads / lanes);
    if (thread_index() == 0) scores[block_index().x] = sum;
}

}  // namespace assay::kernels::cuda
