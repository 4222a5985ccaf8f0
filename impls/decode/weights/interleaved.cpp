#include "impls/decode/weights/interleaved.hpp"

#include <cstring>

#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/instruction_set.hpp"

namespace assay::decode {
namespace {

constexpr int half = 2;  // bytes of a scale or minimum
constexpr int four = 4;  // bytes of a row that lie together

// A plain block of `columns`: `halves` numbers of 16 bits, then `quants` bytes.
struct PlainBlock {
    int columns, halves, quants;
    int bytes() const { return half * halves + quants; }
};

PlainBlock plain_block(AssayType type) {
    constexpr int columns = kernels::weights_per_quantised_block;
    if (type == ASSAY_BF16) return {2, 0, 4};
    if (type == ASSAY_Q8_0) return {columns, 1, columns};
    return {columns, type == ASSAY_Q4_1 ? 2 : 1, columns / 2};
}

// Where byte `byte` of row `row`'s block lies within the sixteen rows' block.
int place(const PlainBlock& block, int row, int byte) {
    if (byte < half * block.halves)
        return byte / half * half * interleaved_rows + half * row + byte % half;
    const int quant = byte - half * block.halves;
    return half * block.halves * interleaved_rows + quant / four * four * interleaved_rows +
           four * row + quant % four;
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
    const PlainBlock block = plain_block(type);
    std::memset(out, 0, interleaved_bytes(type, rows, columns));
    for (int row = 0; row < rows; ++row) {
        std::byte* group =
            out + static_cast<std::size_t>(row / interleaved_rows) * group_bytes(type, columns);
        for (int b = 0; b < columns / block.columns; ++b) {
            for (int byte = 0; byte < block.bytes(); ++byte)
                group[place(block, row % interleaved_rows, byte)] = plain[byte];
            plain += block.bytes();
            group += block.bytes() * interleaved_rows;
        }
    }
}

void take_row(AssayType type, const std::byte* interleaved, int columns, int row, int first,
              int count, std::byte* out) {
    const PlainBlock block = plain_block(type);
    const std::byte* group =
        interleaved +
        static_cast<std::size_t>(row / interleaved_rows) * group_bytes(type, columns) +
        static_cast<std::size_t>(first / block.columns * block.bytes() * interleaved_rows);
    for (int b = 0; b < count / block.columns; ++b) {
        for (int byte = 0; byte < block.bytes(); ++byte)
            *out++ = group[place(block, row % interleaved_rows, byte)];
        group += block.bytes() * interleaved_rows;
    }
}

bool can_interleave(AssayType type, int columns) {
    // Without vectors of sixteen the kernels' plain rows are as fast for bf16.
    const bool wide =
        kernels::widest_vectors(kernels::processor_bits()) == kernels::Vectors::avx512;
    return kernels::is_quantised(type) || (type == ASSAY_BF16 && columns % 2 == 0 && wide);
}

}  // namespace assay::decode
