// Scores of rows by their gradients, and the gradient of chosen rows: the CPU's, which others are
// compared with. Each row, or row of a gradient, is one thread's, so that sums have one order.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "kernels/cpu/context.hpp"
#include "kernels/row_scores/check.hpp"

namespace assay::kernels {
namespace {

float element(AssayType type, const void* from, std::int64_t at) {
    if (type == ASSAY_F32) {
        float value;
        std::memcpy(&value, static_cast<const std::byte*>(from) + 4 * at, sizeof value);
        return value;
    }
    std::uint16_t upper;
    std::memcpy(&upper, static_cast<const std::byte*>(from) + 2 * at, sizeof upper);
    return std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
}

/// <from[at …], with>, with already fp32.
float product(AssayType type, const void* from, std::int64_t at, const float* with, int length) {
    constexpr int lanes = 8;
    std::array<float, lanes> sums{};
    int i = 0;
    for (; i + lanes <= length; i += lanes)
        for (int lane = 0; lane < lanes; ++lane)
            sums[static_cast<std::size_t>(lane)] +=
                element(type, from, at + i + lane) * with[i + lane];
    float sum = 0;
    for (; i < length; ++i) sum += element(type, from, at + i) * with[i];
    for (const float part : sums) sum += part;
    return sum;
}

std::int64_t place(std::int64_t row, std::int32_t tokens, std::int64_t token, std::int32_t width) {
    return (row * tokens + token) * width;
}

/// to[0 … in) = Σ over rows of weights[b] · Σ_s go_b[s][o] x_b[s]; without weights each counts
/// once.
void gradient_row(const AssayWeightGradient& call, std::int64_t o, float* to) {
    std::fill_n(to, call.in, 0.0F);
    for (std::int64_t b = 0; b < call.rows; ++b) {
        const float weight = call.weights ? call.weights[b] : 1;
        if (weight == 0) continue;
        for (std::int64_t s = 0; s < call.tokens; ++s) {
            const float factor =
                weight * element(call.type, call.go, place(b, call.tokens, s, call.out) + o);
            const std::int64_t x = place(b, call.tokens, s, call.in);
            for (std::int32_t i = 0; i < call.in; ++i)
                to[i] += factor * element(call.type, call.x, x + i);
        }
    }
}

void pip(AssayContext& context, const AssayRowScores& call) {
    auto* const gradient = static_cast<float*>(call.workspace);
    const AssayWeightGradient target{call.out,         call.in,   call.tokens,
                                     call.target_rows, call.type, call.target_x,
                                     call.target_go,   nullptr,   gradient};
    context.pool.run(call.out, [&](int o) {
        gradient_row(target, o, gradient + static_cast<std::int64_t>(o) * call.in);
    });
    context.pool.run(call.rows, [&](int b) {
        float score = 0;
        for (std::int64_t s = 0; s < call.tokens; ++s)
            for (std::int64_t o = 0; o < call.out; ++o)
                score += element(call.type, call.go, place(b, call.tokens, s, call.out) + o) *
                         product(call.type, call.x, place(b, call.tokens, s, call.in),
                                 gradient + o * call.in, call.in);
        call.scores[b] = score;
    });
}

void gip(AssayContext& context, const AssayRowScores& call) {
    const auto inner = [&](const void* a, std::int64_t at, const void* b, std::int64_t b_at,
                           int width) {
        float sum = 0;
        for (int i = 0; i < width; ++i)
            sum += element(call.type, a, at + i) * element(call.type, b, b_at + i);
        return sum;
    };
    context.pool.run(call.rows, [&](int b) {
        float score = 0;
        for (std::int64_t v = 0; v < call.target_rows; ++v)
            for (std::int64_t s = 0; s < call.tokens; ++s)
                for (std::int64_t r = 0; r < call.tokens; ++r)
                    score += inner(call.go, place(b, call.tokens, s, call.out), call.target_go,
                                   place(v, call.tokens, r, call.out), call.out) *
                             inner(call.x, place(b, call.tokens, s, call.in), call.target_x,
                                   place(v, call.tokens, r, call.in), call.in);
        call.scores[b] = score;
    });
}

/// A row's gradient between the projections, [a][b]; `memory` has T·(a + b) + a·b floats.
void compress(const AssayRowScores& call, const void* x, const void* go, std::int64_t row,
              float* memory) {
    const std::int64_t a = call.projected_out, b = call.projected_in;
    float* const gradient = memory;
    float* const outs = gradient + a * b;
    float* const ins = outs + call.tokens * a;
    const auto project = [&](const void* from, std::int32_t width, const void* projection,
                             std::int64_t count, float* to) {
        for (std::int64_t s = 0; s < call.tokens; ++s)
            for (std::int64_t j = 0; j < count; ++j) {
                float sum = 0;
                for (std::int64_t i = 0; i < width; ++i)
                    sum += element(call.type, from, place(row, call.tokens, s, width) + i) *
                           element(call.type, projection, j * width + i);
                to[s * count + j] = sum;
            }
    };
    project(go, call.out, call.project_out, a, outs);
    project(x, call.in, call.project_in, b, ins);
    std::fill_n(gradient, a * b, 0.0F);
    for (std::int64_t s = 0; s < call.tokens; ++s)
        for (std::int64_t i = 0; i < a; ++i)
            for (std::int64_t j = 0; j < b; ++j)
                gradient[i * b + j] += outs[s * a + i] * ins[s * b + j];
}

void compressed(AssayContext& context, const AssayRowScores& call) {
    const std::int64_t size = static_cast<std::int64_t>(call.projected_out) * call.projected_in;
    const std::int64_t slot =
        size + static_cast<std::int64_t>(call.tokens) * (call.projected_out + call.projected_in);
    auto* const memory = static_cast<float*>(call.workspace);
    context.pool.run(call.rows + call.target_rows, [&](int row) {
        const bool general = row < call.rows;
        compress(call, general ? call.x : call.target_x, general ? call.go : call.target_go,
                 general ? row : row - call.rows, memory + row * slot);
    });
    float* const target = memory + call.rows * slot;
    for (std::int64_t v = 1; v < call.target_rows; ++v)
        for (std::int64_t i = 0; i < size; ++i) target[i] += target[v * slot + i];
    for (std::int64_t b = 0; b < call.rows; ++b)
        call.scores[b] = product(ASSAY_F32, memory + b * slot, 0, target, static_cast<int>(size));
}

}  // namespace

std::size_t row_scores_workspace(const AssayRowScores& call) {
    if (shape_refusal(call)) return 0;
    const auto wide = [](std::int32_t size) { return static_cast<std::size_t>(size); };
    std::size_t floats = 16;
    if (call.scoring == ASSAY_PIP) floats = wide(call.out) * wide(call.in);
    if (call.scoring == ASSAY_COMPRESSED)
        floats = (wide(call.rows) + wide(call.target_rows)) *
                 (wide(call.tokens) * (wide(call.projected_out) + wide(call.projected_in)) +
                  wide(call.projected_out) * wide(call.projected_in));
    return sizeof(float) * floats;
}

AssayStatus row_scores(AssayContext& context, const AssayRowScores& call) {
    if (const char* const why = refusal(call, row_scores_workspace(call)))
        return refuse(context, ASSAY_BAD_ARGUMENT, why);
    switch (call.scoring) {
        case ASSAY_PIP:
            pip(context, call);
            break;
        case ASSAY_GIP:
            gip(context, call);
            break;
        case ASSAY_COMPRESSED:
            compressed(context, call);
            break;
    }
    return ASSAY_OK;
}

AssayStatus weight_gradient(AssayContext& context, const AssayWeightGradient& call) {
    if (const char* const why = refusal(call)) return refuse(context, ASSAY_BAD_ARGUMENT, why);
    context.pool.run(call.out, [&](int o) {
        gradient_row(call, o, call.gradient + static_cast<std::int64_t>(o) * call.in);
    });
    return ASSAY_OK;
}

}  // namespace assay::kernels
