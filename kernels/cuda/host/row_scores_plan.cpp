#include "kernels/cuda/host/row_scores_plan.hpp"

namespace assay::kernels::cuda {
namespace {

std::size_t wide(std::int64_t size) { return static_cast<std::size_t>(size); }
/// To the next 64 bytes.
std::size_t to_whole_lines(std::size_t floats) { return (floats + 15) / 16 * 16; }

}  // namespace

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
