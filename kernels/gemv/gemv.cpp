// y[b][r] = sum over c of w[r][c] · x[b][c] (+ bias[r]).
#include "kernels/cpu/context.hpp"
#include "kernels/cpu/row_products.hpp"

namespace assay::kernels {
namespace {

AssayStatus check(AssayContext& context, const AssayGemv& call) {
    if (call.rows < 1 || call.columns < 1)
        return refuse(context, ASSAY_BAD_ARGUMENT, "gemv: rows and columns must be positive");
    if (!is_known(call.type)) return refuse(context, ASSAY_UNSUPPORTED, "gemv: unknown type");
    if (call.columns % weights_per_unit(call.type) != 0)
        return refuse(context, ASSAY_BAD_ARGUMENT,
                      "gemv: columns must be a multiple of 32 for quantised types, not " +
                          std::to_string(call.columns));
    if (!call.weights || !call.x || !call.y)
        return refuse(context, ASSAY_BAD_ARGUMENT, "gemv: weights, x and y must not be null");
    return check_batch(context, call.batch);
}

}  // namespace

AssayStatus gemv(AssayContext& context, const AssayGemv& call) {
    if (const AssayStatus status = check(context, call); status != ASSAY_OK) return status;
    multiply_rows(
        context, {call.rows, call.columns, call.type, call.weights, call.batch, call.x},
        [&](int first, int count, const float* products) {
            for (int t = 0; t < call.batch; ++t) {
                float* const y = call.y + static_cast<std::ptrdiff_t>(t) * call.rows + first;
                for (int r = 0; r < count; ++r)
                    y[r] = products[r * call.batch + t] + (call.bias ? call.bias[first + r] : 0.0f);
            }
        });
    return ASSAY_OK;
}

}  // namespace assay::kernels
