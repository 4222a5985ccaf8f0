// The loop of every kernel that multiplies rows of weights with a batch: threads take pieces of the
// rows, enough that they finish together, each long enough that taking it costs nothing. A row's
// result depends on the columns alone, not on its piece.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/element_types.hpp"

namespace assay::kernels {

/// Rows of one item, a multiple of `together` (a piece's last may be shorter).
constexpr int rows_per_item(int rows, std::size_t row_bytes, int threads, int together) {
    constexpr std::size_t least_bytes = 16 * 1024;  // about a microsecond and a half
    constexpr std::size_t most_bytes = 256 * 1024;
    constexpr int items_per_thread = 4;
    if (threads <= 1) return rows;
    const std::size_t fair = static_cast<std::size_t>(rows) * row_bytes /
                             static_cast<std::size_t>(threads * items_per_thread);
    const std::size_t bytes = fair < least_bytes  ? least_bytes
                              : fair > most_bytes ? most_bytes
                                                  : fair;
    const std::size_t blocks = bytes / (row_bytes * static_cast<std::size_t>(together));
    return static_cast<int>(blocks < 1 ? 1 : blocks) * together;
}

constexpr int item_count(int rows, int rows_of_item) {
    return (rows + rows_of_item - 1) / rows_of_item;
}

struct RowProducts {
    int rows, columns;
    AssayType type;
    const void* weights;
    int batch;
    const float* x;  ///< [batch][columns]
};

/// Calls `take(first, count, products)` for neighbouring rows, on any thread; products:
/// [count][batch].
template <typename Take>
void multiply_rows(AssayContext& context, const RowProducts& call, const Take& take) {
    constexpr int together = 16;  // results that fill a cache line
    const std::size_t bytes = row_bytes(call.type, call.columns);
    const DotRows dot_rows = context.instructions.dot_rows->of_type[call.type];
    const auto* const weights = static_cast<const std::byte*>(call.weights);
    const float* x[largest_batch];
    aligned_tokens(context, call.x, call.batch, call.columns, x);

    const int rows_of_item = rows_per_item(call.rows, bytes, context.pool.threads(), together);
    context.pool.run(item_count(call.rows, rows_of_item), [&](int item) {
        const int end = std::min(call.rows, (item + 1) * rows_of_item);
        for (int first = item * rows_of_item; first < end; first += together) {
            const int count = std::min(together, end - first);
            float products[together * largest_batch];
            const std::byte* const from = weights + static_cast<std::size_t>(first) * bytes;
            dot_rows(from, bytes, count, call.columns, x, call.batch, products,
                     from + static_cast<std::size_t>(count) * bytes);
            take(first, count, products);
        }
    });
}

}  // namespace assay::kernels
