// The innermost loop of GEMV, router and the first half of the sparse FFN: rows of stored weights
// times a few tokens (see DotRows). Bound by memory: weights are read once, in order, and unpacked
// in registers.
//
// The sum of one row and token is held in eight vectors, so that no addition waits for the one
// before, and work that piled up behind a slow line of memory is caught up with quickly. Which
// weight goes into which of them depends on the column alone.
#pragma once

#include <cstddef>

#include "kernels/cpu/instruction_set.hpp"
#include "kernels/cpu/stored_weights.hpp"

namespace assay::kernels {

/// Pairwise.
template <class V, int count>
inline typename V::Vector join(const typename V::Vector* vectors) {
    if constexpr (count == 1) {
        return vectors[0];
    } else {
        return V::add(join<V, count / 2>(vectors), join<V, count / 2>(vectors + count / 2));
    }
}

template <class V, AssayType type, int tokens>
inline void dot_row(const std::byte* row, int columns, const float* const* x, float* out,
                    const std::byte* ahead) {
    using Weights = StoredWeights<V, type>;
    using Vector = typename V::Vector;
    constexpr int sums = 8;
    constexpr int steps = sums > Weights::vectors ? sums / Weights::vectors : 1;
    constexpr int columns_at_once = steps * Weights::step;
    constexpr int bytes_at_once = steps * Weights::bytes;

    Vector partial[tokens][sums];
    for (int t = 0; t < tokens; ++t)
        for (int s = 0; s < sums; ++s) partial[t][s] = V::zero();

    int column = 0;
    for (; column + columns_at_once <= columns; column += columns_at_once) {
#pragma GCC unroll 8
        for (int line = 0; line < bytes_at_once; line += 64)
            prefetch_into_second_cache(ahead + line);
#pragma GCC unroll 8
        for (int step = 0; step < steps; ++step) {
            Vector weights[Weights::vectors];
            Weights::unpack(row + step * Weights::bytes, weights);
#pragma GCC unroll 8
            for (int v = 0; v < Weights::vectors; ++v) {
                const int at = step * Weights::vectors + v;
#pragma GCC unroll 8
                for (int t = 0; t < tokens; ++t)
                    partial[t][at % sums] = V::multiply_add(
                        weights[v], V::load(x[t] + column + at * V::lanes), partial[t][at % sums]);
            }
        }
        row += bytes_at_once;
        ahead += bytes_at_once;
    }
#pragma GCC unroll 8
    for (int step = 0; step + 1 < steps; ++step) {
        if (column + Weights::step > columns) break;
        prefetch_into_second_cache(ahead);
        Vector weights[Weights::vectors];
        Weights::unpack(row, weights);
#pragma GCC unroll 8
        for (int v = 0; v < Weights::vectors; ++v) {
            const int at = step * Weights::vectors + v;
#pragma GCC unroll 8
            for (int t = 0; t < tokens; ++t)
                partial[t][at % sums] = V::multiply_add(
                    weights[v], V::load(x[t] + column + v * V::lanes), partial[t][at % sums]);
        }
        column += Weights::step;
        row += Weights::bytes;
        ahead += Weights::bytes;
    }
    if constexpr (!is_quantised(type)) {
        if (const int left = columns - column; left > 0) {
            const Vector weights = Weights::unpack_some(row, left);
            for (int t = 0; t < tokens; ++t)
                partial[t][0] =
                    V::multiply_add(weights, load_some<V>(x[t] + column, left), partial[t][0]);
        }
    }
    for (int t = 0; t < tokens; ++t) out[t] = V::sum(join<V, sums>(partial[t]));
}

template <class V, AssayType type>
inline void dot_row_with_all(const std::byte* row, int columns, const float* const* x, int tokens,
                             float* out, const std::byte* ahead) {
    constexpr int together = V::tokens_together;
    int t = 0;
    for (; t + together <= tokens; t += together)
        dot_row<V, type, together>(row, columns, x + t, out + t, ahead);
    if constexpr (together > 1)
        for (; t < tokens; ++t) dot_row<V, type, 1>(row, columns, x + t, out + t, ahead);
}

template <class V, AssayType type>
void dot_rows(const std::byte* weights, std::size_t row_bytes, int rows, int columns,
              const float* const* x, int tokens, float* out, const std::byte* next) {
    const RowsInOrder order{weights + static_cast<std::size_t>(rows) * row_bytes, next};
    for (int r = 0; r < rows; ++r, weights += row_bytes, out += tokens)
        dot_row_with_all<V, type>(weights, columns, x, tokens, out, order.ahead_of(weights));
}

template <class V, AssayType type>
void dot_listed_rows(const std::byte* weights, std::size_t row_bytes, const std::int32_t* rows,
                     int count, int ahead, int columns, const float* const* x, int tokens,
                     float* out) {
    const auto row = [&](int place) {
        return weights + static_cast<std::size_t>(rows[place]) * row_bytes;
    };
    for (int r = 0; r < count; ++r, out += tokens)
        dot_row_with_all<V, type>(row(r), columns, x, tokens, out, row(r + ahead));
}

template <class V>
constexpr DotRowsTable dot_rows_table() {
    return {{dot_rows<V, ASSAY_F32>, dot_rows<V, ASSAY_F16>, dot_rows<V, ASSAY_BF16>,
             dot_rows<V, ASSAY_Q8_0>, dot_rows<V, ASSAY_Q4_0>, dot_rows<V, ASSAY_Q4_1>},
            {dot_listed_rows<V, ASSAY_F32>, dot_listed_rows<V, ASSAY_F16>,
             dot_listed_rows<V, ASSAY_BF16>, dot_listed_rows<V, ASSAY_Q8_0>,
             dot_listed_rows<V, ASSAY_Q4_0>, dot_listed_rows<V, ASSAY_Q4_1>}};
}

}  // namespace assay::kernels
