// The innermost loop of the sparse FFN's second half (see AddRows): neurons' rows, weighted by
// their activations, added to the output.
//
// One token: row by row, which reads memory in order; the output stays in the first cache. More:
// four rows at a time, so that their outputs pass through the registers once for four rows. The
// order of the sums is the same.
#pragma once

#include <cstddef>

#include "kernels/cpu/instruction_set.hpp"
#include "kernels/cpu/stored_weights.hpp"

namespace assay::kernels {

/// A row, and what to ask for while it is read.
struct RowAndAhead {
    const std::byte *row, *ahead;
};

/// h: `rows` rows of `stride` activations, of which the first `tokens` are meant.
template <class V, AssayType type, int rows, int tokens>
inline void add_some_rows(const RowAndAhead (&at)[rows], int columns, const float* h, int stride,
                          float* const* y) {
    using Weights = StoredWeights<V, type>;
    using Vector = typename V::Vector;
    static_assert(Weights::vectors == 1);
    Vector activation[rows][tokens];
    for (int r = 0; r < rows; ++r)
        for (int t = 0; t < tokens; ++t) activation[r][t] = V::broadcast(h[r * stride + t]);

    const auto one_vector = [&](int column, const Vector* row, auto load, auto store) {
#pragma GCC unroll 4
        for (int t = 0; t < tokens; ++t) {
            Vector sum = load(y[t] + column);
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r) sum = V::multiply_add(activation[r][t], row[r], sum);
            store(y[t] + column, sum);
        }
    };
    int column = 0;
    std::size_t done = 0;  // bytes of each row
    for (; column + V::lanes <= columns; column += V::lanes, done += Weights::bytes) {
        Vector row[rows];
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
            prefetch_into_second_cache(at[r].ahead + done);
            Weights::unpack(at[r].row + done, row + r);
        }
        one_vector(
            column, row, [](const float* from) { return V::load(from); },
            [](float* to, Vector v) { V::store(to, v); });
    }
    if (const int left = columns - column; left > 0) {
        Vector row[rows];
        for (int r = 0; r < rows; ++r) row[r] = Weights::unpack_some(at[r].row + done, left);
        one_vector(
            column, row, [&](const float* from) { return load_some<V>(from, left); },
            [&](float* to, Vector v) { store_some<V>(to, left, v); });
    }
}

template <class V, AssayType type, int rows>
inline void add_rows_to_all(const RowAndAhead (&at)[rows], int columns, const float* h, int tokens,
                            float* const* y) {
    constexpr int together = V::tokens_together;
    int t = 0;
    for (; t + together <= tokens; t += together)
        add_some_rows<V, type, rows, together>(at, columns, h + t, tokens, y + t);
    if constexpr (together > 1)
        for (; t < tokens; ++t) add_some_rows<V, type, rows, 1>(at, columns, h + t, tokens, y + t);
}

constexpr int rows_together = 4;

template <class V, AssayType type>
void add_rows(const std::byte* weights, std::size_t row_bytes, int rows, int columns,
              const float* h, int tokens, float* const* y, const std::byte* next) {
    const bool whole_rows = row_bytes == static_cast<std::size_t>(columns * bytes_per_unit(type));
    const RowsInOrder order{weights + static_cast<std::size_t>(rows) * row_bytes, next};
    int r = 0;
    if (tokens > 1) {
        for (; r + rows_together <= rows; r += rows_together) {
            RowAndAhead at[rows_together];
            for (RowAndAhead& one : at) {
                one = {weights, weights + 2 * rows_together * row_bytes};
                weights += row_bytes;
            }
            add_rows_to_all<V, type, rows_together>(at, columns, h, tokens, y);
            h += rows_together * tokens;
        }
    }
    for (; r < rows; ++r, weights += row_bytes, h += tokens) {
        constexpr std::size_t rows_ahead = 4;
        const RowAndAhead at[1]{
            {weights, whole_rows ? order.ahead_of(weights) : weights + rows_ahead * row_bytes}};
        add_rows_to_all<V, type, 1>(at, columns, h, tokens, y);
    }
}

/// Here four rows at a time for one token too: memory is not read in order anyhow.
template <class V, AssayType type>
void add_listed_rows(const std::byte* weights, std::size_t row_bytes, const std::int32_t* rows,
                     int count, int ahead, int columns, const float* h, int tokens,
                     float* const* y) {
    const auto place = [&](int r) {
        const auto at = [&](int i) {
            return weights + static_cast<std::size_t>(rows[i]) * row_bytes;
        };
        return RowAndAhead{at(r), at(r + ahead)};
    };
    int r = 0;
    for (; r + rows_together <= count; r += rows_together, h += rows_together * tokens) {
        const RowAndAhead at[rows_together]{place(r), place(r + 1), place(r + 2), place(r + 3)};
        add_rows_to_all<V, type, rows_together>(at, columns, h, tokens, y);
    }
    for (; r < count; ++r, h += tokens) {
        const RowAndAhead at[1]{place(r)};
        add_rows_to_all<V, type, 1>(at, columns, h, tokens, y);
    }
}

template <class V>
constexpr AddRowsTable add_rows_table() {
    return {{add_rows<V, ASSAY_F32>, add_rows<V, ASSAY_F16>, add_rows<V, ASSAY_BF16>, nullptr,
             nullptr, nullptr},
            {add_listed_rows<V, ASSAY_F32>, add_listed_rows<V, ASSAY_F16>,
             add_listed_rows<V, ASSAY_BF16>, nullptr, nullptr, nullptr}};
}

}  // namespace assay::kernels
