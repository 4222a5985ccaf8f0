#include "kernels/sparse_ffn/partition.hpp"

#include <cstdint>
#include <limits>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/element_types.hpp"

namespace assay::kernels {
namespace {

constexpr std::size_t alignment = 64;

/// Why this network cannot be computed; null: it can.
const char* fault_of(const AssayFfn& ffn) {
    if (ffn.width < 1 || ffn.experts < 1 || ffn.expert_size < 1)
        return "sparse_ffn: width, experts and expert_size must be positive";
    if (static_cast<std::int64_t>(ffn.experts) * ffn.expert_size >
        std::numeric_limits<std::int32_t>::max())
        return "sparse_ffn: experts · expert_size is too large";
    return nullptr;
}

bool has_kernel(const AssayFfn& ffn) {
    return is_known(ffn.type) && !is_quantised(ffn.type) && is_known(ffn.activation);
}

const char* fault_of_list(const AssaySparseFfn& call) {
    const int count = *call.active_count;
    if (count < 0 || count > call.ffn.experts)
        return "sparse_ffn: active_count must lie between 0 and the number of experts";
    int last = -1;
    for (int i = 0; i < count; ++i) {
        if (call.active[i] <= last || call.active[i] >= call.ffn.experts)
            return "sparse_ffn: active[] must hold expert ids, ascending, each once";
        last = call.active[i];
    }
    return nullptr;
}

}  // namespace

std::size_t activation_floats(const AssayFfn& ffn, int batch) {
    const std::size_t floats = static_cast<std::size_t>(ffn.experts) *
                               static_cast<std::size_t>(ffn.expert_size) *
                               static_cast<std::size_t>(batch);
    constexpr std::size_t unit = alignment / sizeof(float);
    return (floats + unit - 1) / unit * unit;
}

std::size_t sparse_ffn_workspace(const AssayFfn& ffn, int batch) {
    if (fault_of(ffn) || !has_kernel(ffn) || batch < 1 || batch > largest_batch) return 0;
    const std::size_t sums = static_cast<std::size_t>(chunk_count(ffn.experts)) *
                             static_cast<std::size_t>(batch) * static_cast<std::size_t>(ffn.width);
    return (activation_floats(ffn, batch) + sums) * sizeof(float);
}

AssayStatus check_sparse_ffn(AssayContext& context, const AssaySparseFfn& call) {
    const AssayFfn& ffn = call.ffn;
    const auto bad = [&](const char* why) { return refuse(context, ASSAY_BAD_ARGUMENT, why); };
    if (const char* const why = fault_of(ffn)) return bad(why);
    if (!has_kernel(ffn))
        return refuse(
            context, ASSAY_UNSUPPORTED,
            "sparse_ffn: weights must be f32, f16 or bf16, the activation SwiGLU, GELU or "
            "ReLU");
    if (const AssayStatus status = check_batch(context, call.batch); status != ASSAY_OK)
        return status;
    if (!ffn.up || !ffn.down || !call.x || !call.y || !call.active || !call.active_count)
        return bad("sparse_ffn: up, down, x, y, active and active_count must not be null");
    if ((ffn.activation == ASSAY_SWIGLU) != (ffn.gate != nullptr))
        return bad("sparse_ffn: SwiGLU needs gate, the others have none");
    if (!call.workspace || reinterpret_cast<std::uintptr_t>(call.workspace) % alignment != 0 ||
        call.workspace_bytes < sparse_ffn_workspace(ffn, call.batch))
        return bad(
            "sparse_ffn: the workspace must be aligned to 64 bytes and hold "
            "sparse_ffn_workspace() bytes");
    if (const char* const why = fault_of_list(call)) return bad(why);
    return ASSAY_OK;
}

}  // namespace assay::kernels
