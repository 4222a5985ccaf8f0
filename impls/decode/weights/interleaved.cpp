#include "impls/decode/weights/interleaved.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/element_types.hpp"

namespace assay::decode {
namespace {

constexpr int half = 2;  // bytes of a scale or minimum
constexpr int four = 4;  // bytes of a row that lie together

// A plain block of `columns`: `halves` numbers of 16 bits, then `quants` bytes.
struct PlainBlock {
    int columns, halves, quants;
    int bytes() const { return half * halves + quants; }
};

// left: the columns from the block on.
PlainBlock plain_block(AssayType type, int left) {
    constexpr int columns = kernels::weights_per_quantised_block;
    if (type == ASSAY_F32) return {1, 0, 4};
    if (type == ASSAY_F16 || (type == ASSAY_BF16 && left == 1)) return {1, 1, 0};
    if (type == ASSAY_BF16) return {2, 0, 4};
    if (type == ASSAY_Q8_0) return {columns, 1, columns};
    return {columns, type == ASSAY_Q4_1 ? 2 : 1, columns / 2};
}

// copy(plain, interleaved, bytes): where what lies together of row `row` of the sixteen is in its
// plain block and in theirs.
template <class Copy>
void each_piece(const PlainBlock& block, int row, const Copy& copy) {
    for (int h = 0; h < block.halves; ++h)
        copy(half * h, half * (h * interleaved_rows + row), half);
    const int plain = half * block.halves, ours = plain * interleaved_rows;
    for (int q = 0; q < block.quants; q += four)
        copy(plain + q, ours + q * interleaved_rows + four * row, four);
}

std::size_t group_bytes(AssayType type, int columns) {
    return interleaved_rows * kernels::row_bytes(type, columns);
}

}  // namespace

std::size_t interleaved_bytes(AssayType type, int rows, int columns) {
    const int groups = (rows + interleaved_rows - 1) / interleaved_rows;
    return static_cast<std::size_t>(groups) * group_bytes(type, columns);
}

void interleave(AssayType type, const std::byte* plain, int rows, int columns, std::byte* out) {
    std::memset(out, 0, interleaved_bytes(type, rows, columns));
    const std::size_t row_bytes = kernels::row_bytes(type, columns);
    for (int first = 0; first < rows; first += interleaved_rows) {
        const int count = std::min(interleaved_rows, rows - first);
        std::size_t at = 0;  // of the block within its row
        for (int column = 0; column < columns;) {
            const PlainBlock block = plain_block(type, columns - column);
            for (int row = 0; row < count; ++row) {
                const std::byte* const from =
                    plain + static_cast<std::size_t>(first + row) * row_bytes + at;
                each_piece(block, row, [&](int piece, int to, int bytes) {
                    std::memcpy(out + to, from + piece, static_cast<std::size_t>(bytes));
                });
            }
            at += static_cast<std::size_t>(block.bytes());
            out += block.bytes() * interleaved_rows;
            column += block.columns;
        }
    }
}

void take_row(AssayType type, const std::byte* interleaved, int columns, int row, int first,
              int count, std::byte* out) {
    const std::byte* group =
        interleaved +
        static_cast<std::size_t>(row / interleaved_rows) * group_bytes(type, columns) +
        group_bytes(type, first);
    for (int column = first; column < first + count;) {
        const PlainBlock block = plain_block(type, columns - column);
        each_piece(block, row % interleaved_rows, [&](int to, int from, int bytes) {
            std::memcpy(out + to, group + from, static_cast<std::size_t>(bytes));
        });
        out += block.bytes();
        group += block.bytes() * interleaved_rows;
        column += block.columns;
    }
}

}  // namespace assay::decode
