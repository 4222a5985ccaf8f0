#include "kernels/cuda/host/launch_plan.hpp"

#include <algorithm>

#include "kernels/cpu/element_types.hpp"

namespace assay::kernels::cuda {
namespace {

constexpr int wide_bytes = 16;
constexpr int tile_floats = 16384;         // two blocks' tiles fit a multiprocessor from sm_80 on
constexpr int tile_unit = 32;              // columns: a GGUF block, or whole units of any format
constexpr int most_multiprocessors = 256;  // beyond, workspaces would be too small: left idle

std::int64_t ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

int parts(const Device& device, const AssayFfn& ffn, Access access, int blocks_per_multiprocessor,
          int passes) {
    const std::int64_t slabs = ceiling(ffn.width, slab_columns(ffn.type, access));
    const std::int64_t resident =
        std::int64_t{std::min(device.multiprocessors, most_multiprocessors)} *
        blocks_per_multiprocessor;
    const std::int64_t neurons = std::int64_t{ffn.experts} * ffn.expert_size;
    const std::int64_t most = std::min<std::int64_t>(down_most_parts, ceiling(neurons, down_warps));
    return static_cast<int>(std::clamp<std::int64_t>(resident / (slabs * passes), 1, most));
}

}  // namespace

Access access_to(AssayType type, int row_bytes, std::initializer_list<const void*> bases) {
    if (is_quantised(type)) return Access::quantised;
    const bool wide = row_bytes % wide_bytes == 0 &&
                      std::all_of(bases.begin(), bases.end(), [](const void* base) {
                          return reinterpret_cast<std::uintptr_t>(base) % wide_bytes == 0;
                      });
    return wide ? Access::wide : Access::single;
}

int tokens_per_pass(Access access, int batch) {
    if (access == Access::single) return 4;
    for (const int tokens : {1, 4, 8, 16})
        if (batch <= tokens || (access == Access::quantised && tokens == 4)) return tokens;
    return largest_batch;
}

int passes(int tokens, int batch) { return (batch + tokens - 1) / tokens; }

int tile_columns(int columns, int tokens) {
    return static_cast<int>(
        std::min<std::int64_t>(ceiling(columns, tile_unit) * tile_unit, tile_floats / tokens));
}

Launch rows_launch(const Device& device, std::int64_t rows, int columns, int tokens, int batch) {
    const std::int64_t resident =
        std::int64_t{device.multiprocessors} * rows_blocks_per_multiprocessor(tokens);
    Launch launch;
    launch.x = static_cast<int>(std::clamp<std::int64_t>(ceiling(rows, rows_per_warp(tokens)), 1,
                                                         std::max<std::int64_t>(1, resident)));
    launch.y = passes(tokens, batch);
    launch.threads = rows_threads;
    // Behind the tile: sums of warps that share rows, of up to two matrices.
    const int shared_sums = tokens == 1 ? 2 * rows_threads : 0;
    launch.memory_bytes = sizeof(float) * static_cast<std::size_t>(
                                              tile_columns(columns, tokens) * tokens + shared_sums);
    return launch;
}

int slab_columns(AssayType type, Access access) {
    const int lanes = 32;
    return access == Access::wide ? lanes * wide_bytes / bytes_per_unit(type) : lanes;
}

Launch down_launch(const Device& device, const AssayFfn& ffn, Access access, int tokens,
                   int batch) {
    const int columns = slab_columns(ffn.type, access);
    Launch launch;
    launch.x = static_cast<int>(ceiling(ffn.width, columns));
    launch.y =
        parts(device, ffn, access, down_blocks_per_multiprocessor(tokens), passes(tokens, batch));
    launch.z = passes(tokens, batch);
    launch.threads = down_threads;
    launch.memory_bytes = sizeof(float) * static_cast<std::size_t>(down_warps * columns);
    return launch;
}

bool persistent(const Device& device, const AssayFfn& ffn, Access access, int batch) {
    constexpr int largest = 4;
    return device.persistent != 0 && access == Access::wide && batch <= largest &&
           ffn.width <= tile_columns(ffn.width, tokens_per_pass(access, batch));
}

Launch persistent_launch(const Device& device, const AssayFfn& ffn, int tokens) {
    // No block waits for one that has not begun, so a device with less room is only slower.
    Launch launch;
    launch.x = std::max(1, device.multiprocessors * persistent_blocks_per_multiprocessor(tokens));
    launch.threads = rows_threads;
    const int rows = tile_columns(ffn.width, tokens) * tokens + 2 * rows_threads;
    const int down = rows_warps * slab_columns(ffn.type, Access::wide);
    constexpr int flag = 4;
    launch.memory_bytes = sizeof(float) * static_cast<std::size_t>(std::max(rows, down) + flag);
    return launch;
}

int persistent_parts(const Device& device, const AssayFfn& ffn, int tokens) {
    return parts(device, ffn, Access::wide, persistent_blocks_per_multiprocessor(tokens), 1);
}

bool tiles(const Device& device, AssayType type, Access access, int batch) {
    constexpr int least_batch = 5;  // up to 4, memory bounds the other kernels
    return device.tensor_cores && type == ASSAY_BF16 && access == Access::wide &&
           batch >= least_batch;
}

Launch rows_tiles_launch(const Device& device, std::int64_t rows) {
    Launch launch;
    launch.x = static_cast<int>(
        std::clamp<std::int64_t>(ceiling(rows, tile_rows), 1, std::max(1, device.multiprocessors)));
    launch.threads = rows_threads;
    launch.memory_bytes = 2 * chunk_words * sizeof(std::uint32_t);
    return launch;
}

Launch down_tiles_launch(const Device& device, const AssayFfn& ffn) {
    const int columns = slab_columns(ffn.type, Access::wide);
    Launch launch;
    launch.x = static_cast<int>(ceiling(ffn.width, columns));
    launch.y = parts(device, ffn, Access::wide, down_tiles_blocks_per_multiprocessor, 1);
    launch.threads = down_threads;
    launch.memory_bytes = sizeof(float) * 2 * tile_tokens * static_cast<std::size_t>(columns);
    return launch;
}

Launch schedule_launch(const AssayDispatch& call) {
    Launch launch;
    launch.x = call.experts;
    launch.threads = schedule_threads;
    launch.memory_bytes = sizeof(int) * static_cast<std::size_t>(std::max(
                                            4 * call.ranks + schedule_warps, schedule_threads));
    return launch;
}

Launch places_launch(const AssayDispatch& call) {
    Launch launch;
    launch.x = call.experts;
    launch.threads = places_threads;
    launch.memory_bytes = sizeof(int) * static_cast<std::size_t>(call.ranks + 1 + places_warps);
    return launch;
}

Launch move_launch(const AssayRowMove& call) {
    Launch launch;
    launch.x = static_cast<int>(std::max<std::int64_t>(1, ceiling(call.rows, move_warps)));
    launch.threads = move_threads;
    return launch;
}

WorkspaceLayout workspace_layout(const AssayFfn& ffn, int batch) {
    const auto neurons =
        static_cast<std::size_t>(ffn.experts) * static_cast<std::size_t>(ffn.expert_size);
    const auto tokens = static_cast<std::size_t>(batch);
    std::size_t most = 1;
    const Device largest{most_multiprocessors};
    for (const Access access : {Access::wide, Access::single}) {
        const int at_once = tokens_per_pass(access, batch);
        most = std::max(most, static_cast<std::size_t>(parts(
                                  largest, ffn, access, down_blocks_per_multiprocessor(at_once),
                                  passes(at_once, batch))));
        if (tiles(largest, ffn.type, access, batch))
            most =
                std::max(most, static_cast<std::size_t>(parts(
                                   largest, ffn, access, down_tiles_blocks_per_multiprocessor, 1)));
    }
    WorkspaceLayout layout;
    layout.tokens = aligned(neurons * tokens * sizeof(float));
    layout.sums =
        layout.tokens + aligned(static_cast<std::size_t>(ffn.experts) * sizeof(std::uint32_t));
    layout.bytes = layout.sums;
    if (most > 1)
        layout.bytes +=
            aligned(most * tokens * static_cast<std::size_t>(ffn.width) * sizeof(float));
    return layout;
}

}  // namespace assay::kernels::cuda
