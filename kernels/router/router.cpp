// Which experts are active: x·w_i compared with the threshold's logit, then the union over the
// batch as an ascending list.
#include <algorithm>

#include "kernels/cpu/calls.hpp"
#include "kernels/cpu/context.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/row_items.hpp"

namespace assay::kernels {
namespace {

constexpr int rows_together = 16;

AssayStatus check(AssayContext& context, const AssayRouter& call) {
    if (call.width < 1 || call.experts < 1)
        return refuse(context, ASSAY_BAD_ARGUMENT, "router: width and experts must be positive");
    if (!is_known(call.type) || is_quantised(call.type))
        return refuse(context, ASSAY_UNSUPPORTED, "router: weights must be f32, f16 or bf16");
    if (!call.weights || !call.x || !call.mask || !call.active || !call.active_count)
        return refuse(context, ASSAY_BAD_ARGUMENT,
                      "router: weights, x, mask, active and active_count must not be null");
    return check_batch(context, call.batch);
}

}  // namespace

AssayStatus router(AssayContext& context, const AssayRouter& call) {
    if (const AssayStatus status = check(context, call); status != ASSAY_OK) return status;
    const std::size_t bytes = row_bytes(call.type, call.width);
    const DotRows dot_rows = context.instructions.dot_rows->of_type[call.type];
    const auto* const weights = static_cast<const std::byte*>(call.weights);
    const float* x[largest_batch];
    aligned_tokens(context, call.x, call.batch, call.width, x);

    const int experts_of_item =
        rows_per_item(call.experts, bytes, context.pool.threads(), rows_together);
    context.pool.run(item_count(call.experts, experts_of_item), [&](int item) {
        const int end = std::min(call.experts, (item + 1) * experts_of_item);
        for (int first = item * experts_of_item; first < end; first += rows_together) {
            const int experts = std::min(rows_together, end - first);
            float logits[rows_together * largest_batch];
            const std::byte* const from = weights + static_cast<std::size_t>(first) * bytes;
            dot_rows(from, bytes, experts, call.width, x, call.batch, logits,
                     from + static_cast<std::size_t>(experts) * bytes);
            for (int t = 0; t < call.batch; ++t) {
                std::uint8_t* const mask =
                    call.mask + static_cast<std::ptrdiff_t>(t) * call.experts + first;
                // Negated, so that a NaN activates and reaches the output instead of vanishing.
                for (int e = 0; e < experts; ++e)
                    mask[e] = !(logits[e * call.batch + t] <= call.logit_threshold);
            }
        }
    });

    int count = 0;
    for (int e = 0; e < call.experts; ++e) {
        std::uint8_t any = 0;
        for (int t = 0; t < call.batch; ++t)
            any |= call.mask[static_cast<std::ptrdiff_t>(t) * call.experts + e];
        if (any) call.active[count++] = e;
    }
    *call.active_count = count;
    return ASSAY_OK;
}

}  // namespace assay::kernels
