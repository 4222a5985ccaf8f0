// Which experts are active: x·w_i compared with the threshold's logit, then the union over the
// batch as an ascending list.
#include "kernels/cpu/context.hpp"
#include "kernels/cpu/row_products.hpp"

namespace assay::kernels {
namespace {

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
    multiply_rows(context, {call.experts, call.width, call.type, call.weights, call.batch, call.x},
                  [&](int first, int experts, const float* logits) {
                      for (int t = 0; t < call.batch; ++t) {
                          std::uint8_t* const mask =
                              call.mask + static_cast<std::ptrdiff_t>(t) * call.experts + first;
                          // Negated, so that a NaN activates and reaches the output instead of
                          // vanishing.
                          for (int e = 0; e < experts; ++e)
                              mask[e] = !(logits[e * call.batch + t] <= call.logit_threshold);
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
