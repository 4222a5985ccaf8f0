// Which kernels a call of kernels/row_scores is made of, and in what order, on a GPU or in the
// emulation.
#pragma once

#include "kernels/cuda/device/row_scores_kernels.hpp"
#include "kernels/cuda/device/score_tiles_kernels.hpp"

namespace assay::kernels::cuda {

template <class Element, class Machine>
void launch_gradient(Machine& machine, const GradientOf& call) {
    machine.launch(gradient_kernel<Element>,
                   product_launch(call.out, call.in, call.per_row ? call.rows : 1), call);
}

/// `Number`: that of the gradient, float or std::uint16_t for bf16.
template <class Number, class Machine>
void launch_tile_gradient(Machine& machine, const TileGradientOf& call) {
    machine.launch(machine.device().warpgroups ? gradient_tiles_kernel<OfWarpgroups, Number>
                                               : gradient_tiles_kernel<OfWarps, Number>,
                   score_tiles_launch(score_tiles(call.out, score_tile),
                                      score_tiles(call.in, score_tile), score_tile),
                   call);
}

template <class Element, class Machine>
void launch_compressed(Machine& machine, const AssayRowScores& call, float* workspace) {
    const RowScoresLayout layout = row_scores_layout(call);
    const int a = call.projected_out, b = call.projected_in;
    const bool tiles = scores_by_tiles(machine.device(), call);
    const auto project = [&](const void* from, const void* projection, int rows, int width,
                             int columns, float* to) {
        const std::int64_t tokens = static_cast<std::int64_t>(rows) * call.tokens;
        if (tiles)
            machine.launch(
                project_tiles_kernel,
                score_tiles_launch(score_tiles(tokens, narrow_score_tile),
                                   score_tiles(columns, narrow_score_tile), narrow_score_tile),
                TileProjection{from, projection, to, tokens, width, columns});
        else
            machine.launch(project_kernel<Element>, product_launch(tokens, columns, 1),
                           Projection{from, projection, to, tokens, width, columns});
    };
    float* const outs = workspace + layout.outs;
    float* const ins = workspace + layout.ins;
    const std::int64_t tokens = static_cast<std::int64_t>(call.rows) * call.tokens;
    project(call.go, call.project_out, call.rows, call.out, a, outs);
    project(call.target_go, call.project_out, call.target_rows, call.out, a, outs + tokens * a);
    project(call.x, call.project_in, call.rows, call.in, b, ins);
    project(call.target_x, call.project_in, call.target_rows, call.in, b, ins + tokens * b);
    float* const gradients = workspace + layout.gradient;
    launch_gradient<F32Element>(machine, GradientOf{ins, outs, nullptr, gradients, a, b,
                                                    call.tokens, call.rows + call.target_rows, 1});
    machine.launch(compressed_scores_kernel, parts_launch(call.rows), gradients, a * b, call.rows,
                   call.target_rows, call.scores);
}

template <class Element, class Machine>
void launch_row_scores_of(Machine& machine, const AssayRowScores& call) {
    float* const workspace = static_cast<float*>(call.workspace);
    const RowScoresLayout layout = row_scores_layout(call);
    if (call.scoring == ASSAY_COMPRESSED)
        return launch_compressed<Element>(machine, call, workspace);
    float* const parts = workspace + layout.parts;
    if (call.scoring == ASSAY_PIP) {
        float* const gradient = workspace + layout.gradient;
        launch_gradient<Element>(
            machine, GradientOf{call.target_x, call.target_go, nullptr, gradient, call.out, call.in,
                                call.tokens, call.target_rows, 0});
        machine.launch(pip_kernel<Element>, product_launch(call.tokens, call.out, call.rows), call,
                       gradient, parts);
    } else {
        Launch launch = product_launch(call.tokens, call.tokens, call.rows);
        launch.x *= call.target_rows;
        machine.launch(gip_kernel<Element>, launch, call, parts);
    }
    machine.launch(add_parts_kernel, parts_launch(call.rows), parts, layout.parts_of_row,
                   call.scores);
}

/// pip and gip on the tensor cores. Parts are fewer than the layout has room for.
template <class Machine>
void launch_tile_scores(Machine& machine, const AssayRowScores& call) {
    float* const workspace = static_cast<float*>(call.workspace);
    const RowScoresLayout layout = row_scores_layout(call);
    float* const parts = workspace + layout.parts;
    const std::int64_t down = score_tiles(call.tokens, score_tile);
    const bool together = machine.device().warpgroups;
    std::int64_t across;
    if (call.scoring == ASSAY_PIP) {
        across = score_tiles(call.out, score_tile);
        auto* const gradient = reinterpret_cast<std::uint16_t*>(workspace + layout.gradient);
        launch_tile_gradient<std::uint16_t>(
            machine, TileGradientOf{call.target_x, call.target_go, nullptr, gradient, call.out,
                                    call.in, call.tokens, call.target_rows});
        machine.launch(together ? pip_tiles_kernel<OfWarpgroups> : pip_tiles_kernel<OfWarps>,
                       score_tiles_launch(down * call.rows, across, score_tile), call, gradient,
                       parts);
    } else {
        across = down * call.target_rows;
        machine.launch(together ? gip_tiles_kernel<OfWarpgroups> : gip_tiles_kernel<OfWarps>,
                       score_tiles_launch(down * call.rows, across, score_tile), call, parts);
    }
    machine.launch(add_parts_kernel, parts_launch(call.rows), parts,
                   static_cast<int>(down * across), call.scores);
}

template <class Machine>
void launch_row_scores(Machine& machine, const AssayRowScores& call) {
    if (call.scoring != ASSAY_COMPRESSED && scores_by_tiles(machine.device(), call))
        launch_tile_scores(machine, call);
    else if (call.type == ASSAY_F32)
        launch_row_scores_of<F32Element>(machine, call);
    else
        launch_row_scores_of<Bf16Element>(machine, call);
}

template <class Machine>
void launch_weight_gradient(Machine& machine, const AssayWeightGradient& call) {
    if (gradient_by_tiles(machine.device(), call))
        return launch_tile_gradient<float>(
            machine, TileGradientOf{call.x, call.go, call.weights, call.gradient, call.out, call.in,
                                    call.tokens, call.rows});
    const GradientOf of{
        call.x, call.go, call.weights, call.gradient, call.out, call.in, call.tokens, call.rows, 0};
    if (call.type == ASSAY_F32)
        launch_gradient<F32Element>(machine, of);
    else
        launch_gradient<Bf16Element>(machine, of);
}

}  // namespace assay::kernels::cuda
