#include "kernels/cuda/host/row_scores_plan.hpp"

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace assay::kernels::cuda {
namespace {

std::size_t wide(std::int64_t size) { return static_cast<std::size_t>(size); }
/// To the next 64 bytes.
std::size_t to_whole_lines(std::size_t floats) { return (floats + 15) / 16 * 16; }

/// Blocks of a launch, and steps of a block's sums, are counted in 32 bits.
constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();

std::int64_t steps(std::int32_t tokens, std::int32_t rows) {
    return static_cast<std::int64_t>(score_tiles(tokens, score_depth)) * rows;
}

bool whole_pieces(std::initializer_list<std::int32_t> widths,
                  std::initializer_list<const void*> bases) {
    constexpr int bytes = 16, numbers = 8;
    for (const std::int32_t width : widths)
        if (width % numbers != 0) return false;
    for (const void* const base : bases)
        if (reinterpret_cast<std::uintptr_t>(base) % bytes != 0) return false;
    return true;
}

}  // namespace

bool scores_by_tiles(const Device& device, const AssayRowScores& call) {
    if (!device.tensor_cores || call.type != ASSAY_BF16 ||
        !whole_pieces({call.out, call.in}, {call.x, call.go, call.target_x, call.target_go}))
        return false;
    if (call.scoring == ASSAY_COMPRESSED) {
        const std::int64_t tokens = static_cast<std::int64_t>(call.tokens) *
                                    (call.rows > call.target_rows ? call.rows : call.target_rows);
        const int widest =
            call.projected_out > call.projected_in ? call.projected_out : call.projected_in;
        return whole_pieces({}, {call.project_out, call.project_in}) &&
               tokens / narrow_score_tile + 1 <=
                   most_blocks / score_tiles(widest, narrow_score_tile);
    }
    const std::int64_t down = score_tiles(call.tokens, score_tile);
    const std::int64_t across =
        call.scoring == ASSAY_PIP ? score_tiles(call.out, score_tile) : down * call.target_rows;
    return across <= most_blocks && down * call.rows <= most_blocks / across &&
           steps(call.tokens, call.target_rows) <= most_blocks;
}

bool gradient_by_tiles(const Device& device, const AssayWeightGradient& call) {
    return device.tensor_cores && call.type == ASSAY_BF16 &&
           whole_pieces({call.out, call.in}, {call.x, call.go}) &&
           steps(call.tokens, call.rows) <= most_blocks;
}

Launch score_tiles_launch(std::int64_t tiles_down, std::int64_t tiles_across, int tile) {
    Launch launch;
    launch.x = static_cast<int>(tiles_down * tiles_across);
    launch.threads = score_threads;
    launch.memory_bytes = sizeof(std::uint16_t) * static_cast<std::size_t>(score_stages) *
                          score_depth * 2 * static_cast<std::size_t>(tile);
    return launch;
}

RowScoresLayout row_scores_layout(const AssayRowScores& call) {
    RowScoresLayout layout;
    std::size_t end = 0;
    const auto take = [&](std::size_t floats) {
        const std::size_t begin = end;
        end += to_whole_lines(floats);
        return begin;
    };
    const std::size_t all = wide(call.rows) + wide(call.target_rows);
    switch (call.scoring) {
        case ASSAY_PIP:
            layout.gradient = take(wide(call.out) * wide(call.in));
            layout.parts_of_row = product_tiles(call.tokens) * product_tiles(call.out);
            layout.parts = take(wide(call.rows) * wide(layout.parts_of_row));
            break;
        case ASSAY_GIP:
            layout.parts_of_row =
                call.target_rows * product_tiles(call.tokens) * product_tiles(call.tokens);
            layout.parts = take(wide(call.rows) * wide(layout.parts_of_row));
            break;
        case ASSAY_COMPRESSED:
            layout.gradient = take(all * wide(call.projected_out) * wide(call.projected_in));
            layout.outs = take(all * wide(call.tokens) * wide(call.projected_out));
            layout.ins = take(all * wide(call.tokens) * wide(call.projected_in));
            break;
    }
    layout.bytes = sizeof(float) * end;
    return layout;
}

Launch product_launch(std::int64_t rows, std::int64_t columns, int of_rows) {
    Launch launch;
    // The longest side goes where a grid has most room.
    launch.x = product_tiles(rows) * product_tiles(columns);
    launch.y = of_rows;
    launch.threads = product_threads;
    launch.memory_bytes = sizeof(float) * 2 * product_depth * product_line;
    return launch;
}

Launch parts_launch(int rows) {
    Launch launch;
    launch.x = rows;
    launch.threads = parts_threads;
    launch.memory_bytes = sizeof(float) * parts_threads / 32;
    return launch;
}

}  // namespace assay::kernels::cuda
