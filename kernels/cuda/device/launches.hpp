// Calls, already checked, as launches. A Machine has device(), counters() (zeroed, cuda::counters
// of them) and launch(kernel, Launch, parameters…): the GPU's stream, or the emulation.
#pragma once

#include <algorithm>

#include "kernels/cpu/element_types.hpp"
#include "kernels/cuda/device/down_tiles_kernel.hpp"
#include "kernels/cuda/device/format_choice.hpp"
#include "kernels/cuda/device/jobs.hpp"
#include "kernels/cuda/device/persistent_kernel.hpp"
#include "kernels/cuda/device/rows_tiles_kernel.hpp"

namespace assay::kernels::cuda {

/// Checked to fit 32 bits.
inline int signed_row_bytes(AssayType type, int columns) {
    return static_cast<int>(row_bytes(type, columns));
}

inline int megabytes(int count) { return count << 20; }

template <class Format, int tokens, class Machine, class Job>
void launch_rows(Machine& machine, const Job& job, std::int64_t most_rows, const float* x,
                 int columns, int batch) {
    const RowsShape shape{x,
                          columns,
                          batch,
                          tile_columns(columns, tokens),
                          job.row_bytes,
                          megabytes(machine.device().prefetch_mb),
                          machine.device().prefetch_next,
                          machine.device().most_warps_of_row};
    Launch launch = rows_launch(machine.device(), most_rows, columns, tokens, batch);
    if constexpr (std::is_same_v<Job, RouterJob>)
        launch.x =
            std::min(launch.x, machine.device().multiprocessors * machine.device().router_blocks);
    machine.launch(rows_kernel<Format, tokens, Job>, launch, job, shape);
}

template <class Machine, class Job>
void launch_tiles(Machine& machine, const Job& job, std::int64_t most_rows, const float* x,
                  int columns, int batch) {
    machine.launch(rows_tiles_kernel<Job>, rows_tiles_launch(machine.device(), most_rows), job,
                   RowsShape{x, columns, batch, chunk_columns, job.row_bytes, 0, 0, 1});
}

template <class Machine>
void launch_gemv(Machine& machine, const AssayGemv& call) {
    const int bytes = signed_row_bytes(call.type, call.columns);
    const Access access = access_to(call.type, bytes, {call.weights});
    const GemvJob job{static_cast<const std::byte*>(call.weights), bytes, call.rows, call.bias,
                      call.y};
    if (tiles(machine.device(), call.type, access, call.batch))
        return launch_tiles(machine, job, call.rows, call.x, call.columns, call.batch);
    with_any_format(call.type, access, tokens_per_pass(access, call.batch),
                    [&](auto format, auto tokens) {
                        launch_rows<typename decltype(format)::type, decltype(tokens)::value>(
                            machine, job, call.rows, call.x, call.columns, call.batch);
                    });
}

template <class Machine>
void launch_router(Machine& machine, const AssayRouter& call) {
    const int bytes = signed_row_bytes(call.type, call.width);
    const Access access = access_to(call.type, bytes, {call.weights});
    const RouterJob job{static_cast<const std::byte*>(call.weights),
                        bytes,
                        call.experts,
                        call.batch,
                        call.logit_threshold,
                        call.mask,
                        call.active,
                        call.active_count,
                        machine.counters()};
    if (tiles(machine.device(), call.type, access, call.batch))
        return launch_tiles(machine, job, call.experts, call.x, call.width, call.batch);
    with_plain_format(call.type, access, tokens_per_pass(access, call.batch),
                      [&](auto format, auto tokens) {
                          launch_rows<typename decltype(format)::type, decltype(tokens)::value>(
                              machine, job, call.experts, call.x, call.width, call.batch);
                      });
}

inline ActiveExperts active_experts(const AssaySparseFfn& call) {
    return {call.active,      call.active_count,    call.mask,
            call.ffn.experts, call.ffn.expert_size, call.batch};
}
template <class Pointer>
Pointer in_workspace(const AssaySparseFfn& call, std::size_t offset) {
    return reinterpret_cast<Pointer>(static_cast<std::byte*>(call.workspace) + offset);
}

inline bool is_persistent(const Device& device, const AssaySparseFfn& call) {
    const AssayFfn& ffn = call.ffn;
    return persistent(
        device, ffn,
        access_to(ffn.type, signed_row_bytes(ffn.type, ffn.width), {ffn.gate, ffn.up, ffn.down}),
        call.batch);
}

template <bool gated>
GateUpJob<gated> gate_up_job(const Device& device, const AssaySparseFfn& call) {
    const AssayFfn& ffn = call.ffn;
    const WorkspaceLayout layout = workspace_layout(ffn, call.batch);
    return {active_experts(call),
            static_cast<const std::byte*>(ffn.gate),
            static_cast<const std::byte*>(ffn.up),
            signed_row_bytes(ffn.type, ffn.width),
            ffn.up_bias,
            ffn.activation,
            in_workspace<float*>(call, layout.activations),
            in_workspace<std::uint32_t*>(call, layout.tokens),
            static_cast<const std::byte*>(ffn.down),
            megabytes(device.down_prefetch_mb)};
}

inline DownJob down_job(const AssaySparseFfn& call, int* counters) {
    const AssayFfn& ffn = call.ffn;
    const WorkspaceLayout layout = workspace_layout(ffn, call.batch);
    return {active_experts(call),
            static_cast<const std::byte*>(ffn.down),
            signed_row_bytes(ffn.type, ffn.width),
            ffn.width,
            ffn.down_bias,
            in_workspace<float*>(call, layout.activations),
            in_workspace<std::uint32_t*>(call, layout.tokens),
            in_workspace<float*>(call, layout.sums),
            counters,
            call.y};
}

template <class Machine>
void launch_gate_up(Machine& machine, const AssaySparseFfn& call) {
    const AssayFfn& ffn = call.ffn;
    const int bytes = signed_row_bytes(ffn.type, ffn.width);
    const Access access = access_to(ffn.type, bytes, {ffn.gate, ffn.up});
    const std::int64_t neurons = std::int64_t{ffn.experts} * ffn.expert_size;
    const auto launch = [&](auto job) {
        if (tiles(machine.device(), ffn.type, access, call.batch))
            return launch_tiles(machine, job, neurons, call.x, ffn.width, call.batch);
        with_plain_format(ffn.type, access, tokens_per_pass(access, call.batch),
                          [&](auto format, auto tokens) {
                              launch_rows<typename decltype(format)::type, decltype(tokens)::value>(
                                  machine, job, neurons, call.x, ffn.width, call.batch);
                          });
    };
    if (ffn.activation == ASSAY_SWIGLU)
        launch(gate_up_job<true>(machine.device(), call));
    else
        launch(gate_up_job<false>(machine.device(), call));
}

template <class Machine>
void launch_down(Machine& machine, const AssaySparseFfn& call) {
    const AssayFfn& ffn = call.ffn;
    const int bytes = signed_row_bytes(ffn.type, ffn.width);
    const Access access = access_to(ffn.type, bytes, {ffn.down});
    const DownJob job = down_job(call, machine.counters());
    if (tiles(machine.device(), ffn.type, access, call.batch))
        return machine.launch(down_tiles_kernel, down_tiles_launch(machine.device(), ffn), job);
    with_plain_format(
        ffn.type, access, tokens_per_pass(access, call.batch), [&](auto format, auto tokens) {
            constexpr int per_pass = decltype(tokens)::value;
            machine.launch(down_kernel<typename decltype(format)::type, per_pass>,
                           down_launch(machine.device(), ffn, access, per_pass, call.batch), job);
        });
}

/// Where is_persistent(). router: null, or what runs before; its outputs are the call's active,
/// active_count and mask, its weights of the network's type and aligned to 16 bytes.
template <class Machine>
void launch_persistent(Machine& machine, const AssaySparseFfn& call,
                       const AssayRouter* router = nullptr) {
    const AssayFfn& ffn = call.ffn;
    const Device& device = machine.device();
    const DownJob down = down_job(call, machine.counters());
    with_plain_format(
        ffn.type, Access::wide, tokens_per_pass(Access::wide, call.batch),
        [&](auto format, auto tokens) {
            using Format = typename decltype(format)::type;
            constexpr int per_pass = decltype(tokens)::value;
            // Others have no kernel: is_persistent() says so.
            if constexpr (per_pass <= 4 && Format::values > 1) {
                const Launch launch = persistent_launch(device, ffn, per_pass);
                const RowsShape shape{
                    call.x,         ffn.width, call.batch, tile_columns(ffn.width, per_pass),
                    down.row_bytes, 0,         0,          device.most_warps_of_row};
                PersistentShape grid{};
                grid.parts = persistent_parts(device, ffn, per_pass);
                const int columns = slab_columns(ffn.type, Access::wide);
                grid.slabs = (ffn.width + columns - 1) / columns;
                grid.flag = static_cast<int>(launch.memory_bytes / sizeof(float)) - 1;
                grid.counters = reinterpret_cast<PersistentCounters*>(
                    machine.counters() + counters - sizeof(PersistentCounters) / sizeof(int));
                if (router) {
                    grid.with_router = true;
                    grid.router = {static_cast<const std::byte*>(router->weights),
                                   down.row_bytes,
                                   router->experts,
                                   router->batch,
                                   router->logit_threshold,
                                   router->mask,
                                   router->active,
                                   router->active_count,
                                   machine.counters()};
                }
                if (ffn.activation == ASSAY_SWIGLU)
                    machine.launch(persistent_kernel<Format, per_pass, true>, launch,
                                   gate_up_job<true>(device, call), shape, down, grid);
                else
                    machine.launch(persistent_kernel<Format, per_pass, false>, launch,
                                   gate_up_job<false>(device, call), shape, down, grid);
            }
        });
}

}  // namespace assay::kernels::cuda
