#include "kernels/cuda/host/check.hpp"

#include <cstdint>
#include <initializer_list>

#include "kernels/cpu/element_types.hpp"
#include "kernels/cuda/host/launch_plan.hpp"
#include "kernels/cuda/host/row_scores_plan.hpp"
#include "kernels/dispatch/check.hpp"
#include "kernels/row_scores/check.hpp"

namespace assay::kernels::cuda {
namespace {

// Row numbers plus a round of rows must fit 32 bits.
constexpr std::int64_t most_rows = std::int64_t{1} << 30;
// So must a row's bytes.
constexpr int most_columns = 1 << 28;
constexpr std::uintptr_t workspace_alignment = 64;

Verdict bad(std::string why) { return {ASSAY_BAD_ARGUMENT, std::move(why)}; }
Verdict unsupported(std::string why) { return {ASSAY_UNSUPPORTED, std::move(why)}; }

Verdict check_batch(int batch) {
    if (batch < 1) return bad("batch must be at least 1, not " + std::to_string(batch));
    if (batch > largest_batch)
        return unsupported("batch is " + std::to_string(batch) + ", at most " +
                           std::to_string(largest_batch) + " are computed at once; split it");
    return {};
}

bool has_plain_kernels(AssayType type) { return is_known(type) && !is_quantised(type); }

bool all_aligned(std::initializer_list<const void*> addresses, std::uintptr_t bytes) {
    for (const void* const address : addresses)
        if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) return false;
    return true;
}
/// GPUs read no number across its alignment; GGUF blocks are read in halves.
std::uintptr_t alignment_of(AssayType type) { return type == ASSAY_F32 ? 4 : 2; }

/// A grid's second side.
Verdict check_grid(const AssayRowScores& call) {
    constexpr std::int64_t most = 65535;
    if (call.rows > most) return unsupported("row_scores: at most 65535 rows at once");
    // Each row of both makes a gradient of its own between projections.
    if (call.scoring == ASSAY_COMPRESSED && std::int64_t{call.rows} + call.target_rows > most)
        return unsupported("row_scores: at most 65535 rows and target rows at once");
    return {};
}

}  // namespace

Verdict check(const AssayGemv& call) {
    if (call.rows < 1 || call.columns < 1) return bad("gemv: rows and columns must be positive");
    if (!is_known(call.type)) return unsupported("gemv: unknown type");
    if (call.columns % weights_per_unit(call.type) != 0)
        return bad("gemv: columns must be a multiple of 32 for quantised types, not " +
                   std::to_string(call.columns));
    if (call.rows > most_rows) return unsupported("gemv: at most 2^30 rows");
    if (call.columns > most_columns) return unsupported("gemv: at most 2^28 columns");
    if (!call.weights || !call.x || !call.y) return bad("gemv: weights, x and y must not be null");
    if (!all_aligned({call.weights}, alignment_of(call.type)))
        return bad("gemv: weights must be aligned to " + std::to_string(alignment_of(call.type)) +
                   " bytes");
    return check_batch(call.batch);
}

Verdict check(const AssayRouter& call) {
    if (call.width < 1 || call.experts < 1)
        return bad("router: width and experts must be positive");
    if (!has_plain_kernels(call.type))
        return unsupported("router: weights must be f32, f16 or bf16");
    if (call.experts > most_rows) return unsupported("router: at most 2^30 experts");
    if (call.width > most_columns) return unsupported("router: at most 2^28 columns");
    if (!call.weights || !call.x || !call.mask || !call.active || !call.active_count)
        return bad("router: weights, x, mask, active and active_count must not be null");
    if (!all_aligned({call.weights}, alignment_of(call.type)))
        return bad("router: weights must be aligned to " + std::to_string(alignment_of(call.type)) +
                   " bytes");
    return check_batch(call.batch);
}

Verdict check(const AssayDispatch& call) {
    const char* const why = refusal(call);
    return why ? bad(why) : Verdict{};
}

Verdict check(const AssayRowMove& call) {
    const char* const why = refusal(call);
    return why ? bad(why) : Verdict{};
}

Verdict check(const AssayRowScores& call) {
    if (const char* const why = shape_refusal(call)) return bad(why);
    const char* const why = refusal(call, row_scores_layout(call).bytes);
    if (why) return bad(why);
    if (!all_aligned(
            {call.x, call.go, call.target_x, call.target_go, call.project_out, call.project_in},
            alignment_of(call.type)))
        return bad("row_scores: what is read must be aligned to its numbers");
    return check_grid(call);
}

Verdict check(const AssayWeightGradient& call) {
    if (const char* const why = refusal(call)) return bad(why);
    if (!all_aligned({call.x, call.go}, alignment_of(call.type)))
        return bad("weight_gradient: what is read must be aligned to its numbers");
    return {};
}

Verdict check_network(const AssayFfn& ffn, int batch) {
    if (ffn.width < 1 || ffn.experts < 1 || ffn.expert_size < 1)
        return bad("sparse_ffn: width, experts and expert_size must be positive");
    if (static_cast<std::int64_t>(ffn.experts) * ffn.expert_size > most_rows)
        return bad("sparse_ffn: experts · expert_size is too large");
    if (!has_plain_kernels(ffn.type) || ffn.activation < ASSAY_SWIGLU ||
        ffn.activation > ASSAY_RELU)
        return unsupported(
            "sparse_ffn: weights must be f32, f16 or bf16, the activation SwiGLU, GELU or ReLU");
    if (const Verdict verdict = check_batch(batch); verdict.status != ASSAY_OK) return verdict;
    const std::int64_t slabs = (std::int64_t{ffn.width} + 31) / 32;
    if (slabs * passes(tokens_per_pass(Access::single, batch), batch) > counters)
        return unsupported("sparse_ffn: width is too large");
    return {};
}

Verdict check(const AssaySparseFfn& call) {
    const AssayFfn& ffn = call.ffn;
    if (const Verdict verdict = check_network(ffn, call.batch); verdict.status != ASSAY_OK)
        return verdict;
    if (!ffn.up || !ffn.down || !call.x || !call.y || !call.active || !call.active_count)
        return bad("sparse_ffn: up, down, x, y, active and active_count must not be null");
    if ((ffn.activation == ASSAY_SWIGLU) != (ffn.gate != nullptr))
        return bad("sparse_ffn: SwiGLU needs gate, the others have none");
    if (!all_aligned({ffn.gate, ffn.up, ffn.down}, alignment_of(ffn.type)))
        return bad("sparse_ffn: weights must be aligned to " +
                   std::to_string(alignment_of(ffn.type)) + " bytes");
    if (!call.workspace || !all_aligned({call.workspace}, workspace_alignment) ||
        call.workspace_bytes < workspace_layout(ffn, call.batch).bytes)
        return bad(
            "sparse_ffn: the workspace must be aligned to 64 bytes and hold "
            "sparse_ffn_workspace() bytes");
    return {};
}

}  // namespace assay::kernels::cuda
