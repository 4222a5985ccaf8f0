// How rows of weights are shared out: enough pieces that threads finish together, each long enough
// that taking it costs nothing. A row's result does not depend on its piece.
#pragma once

#include <cstddef>

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

}  // namespace assay::kernels
