// What the calls of kernels/row_scores must look like, on any back end.
#pragma once

#include <cstdint>

#include "kernels/cpu/element_types.hpp"

namespace assay::kernels {

/// Of one tensor of a call: places in it are counted in 64 bits, tiles of it in 31.
constexpr std::int64_t most_elements = std::int64_t{1} << 40;
constexpr std::int32_t most_of_a_size = 1 << 24;

inline bool is_scored_type(const AssayType& type) {
    return as_number(type) == ASSAY_F32 || as_number(type) == ASSAY_BF16;
}

/// Null, or why a call is refused, addresses aside.
inline const char* shape_refusal(const AssayRowScores& call) {
    const int scoring = as_number(call.scoring);
    if (scoring < ASSAY_PIP || scoring > ASSAY_COMPRESSED) return "row_scores: unknown scoring";
    if (!is_scored_type(call.type)) return "row_scores: x and go must be f32 or bf16";
    for (const std::int32_t size : {call.out, call.in, call.tokens, call.rows, call.target_rows})
        if (size < 1 || size > most_of_a_size)
            return "row_scores: sizes must be from 1 to 16777216";
    if (scoring == ASSAY_COMPRESSED)
        for (const std::int32_t size : {call.projected_out, call.projected_in})
            if (size < 1 || size > most_of_a_size)
                return "row_scores: projections must be from 1 to 16777216 wide";
    const std::int64_t widest = call.out > call.in ? call.out : call.in;
    const std::int64_t rows = call.rows + static_cast<std::int64_t>(call.target_rows);
    if (widest * call.tokens > most_elements / rows ||
        static_cast<std::int64_t>(call.out) * call.in > most_elements)
        return "row_scores: more than 2^40 numbers in a tensor";
    if (scoring == ASSAY_GIP &&
        static_cast<std::int64_t>(call.tokens) * call.tokens > most_elements / call.target_rows)
        return "row_scores: more than 2^40 pairs of tokens of a row and the target's";
    const std::int64_t a = call.projected_out, b = call.projected_in;
    if (scoring == ASSAY_COMPRESSED && call.tokens * (a + b) + a * b > most_elements / rows)
        return "row_scores: more than 2^40 numbers between projections";
    return nullptr;
}
/// Null, or why a call is refused (ASSAY_BAD_ARGUMENT). `workspace`: bytes that it needs.
inline const char* refusal(const AssayRowScores& call, std::size_t workspace) {
    if (const char* const why = shape_refusal(call)) return why;
    if (!call.x || !call.go || !call.target_x || !call.target_go || !call.scores)
        return "row_scores: addresses must not be null";
    if (as_number(call.scoring) == ASSAY_COMPRESSED && (!call.project_out || !call.project_in))
        return "row_scores: projections must not be null";
    if (!call.workspace || call.workspace_bytes < workspace ||
        reinterpret_cast<std::uintptr_t>(call.workspace) % 64 != 0)
        return "row_scores: the workspace must have row_scores_workspace() bytes, aligned to 64";
    return nullptr;
}

inline const char* refusal(const AssayWeightGradient& call) {
    if (!is_scored_type(call.type)) return "weight_gradient: x and go must be f32 or bf16";
    for (const std::int32_t size : {call.out, call.in, call.tokens})
        if (size < 1 || size > most_of_a_size)
            return "weight_gradient: sizes must be from 1 to 16777216";
    if (call.rows < 0 || call.rows > most_of_a_size)
        return "weight_gradient: rows must be from 0 to 16777216";
    const std::int64_t widest = call.out > call.in ? call.out : call.in;
    if (widest * call.tokens > most_elements / (call.rows > 0 ? call.rows : 1) ||
        static_cast<std::int64_t>(call.out) * call.in > most_elements)
        return "weight_gradient: more than 2^40 numbers in a tensor";
    if (!call.gradient || (call.rows > 0 && (!call.x || !call.go || !call.weights)))
        return "weight_gradient: addresses must not be null";
    return nullptr;
}

}  // namespace assay::kernels
