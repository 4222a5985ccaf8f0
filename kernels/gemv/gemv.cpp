// y[b][r] = sum over c of w[r][c] · x[b][c] (+ bias[r]). Threads take pieces of the rows; every sum
// is made by one thread in an order that depends on the columns alone.
#include <algorithm>

#include "kernels/cpu/calls.hpp"
#include "kernels/cpu/context.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/row_items.hpp"

namespace assay::kernels {
namespace {

constexpr int rows_together = 16;  // results that fill a cache line of y

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
    const std::size_t bytes = row_bytes(call.type, call.columns);
    const DotRows dot_rows = context.instructions.dot_rows->of_type[call.type];
    const auto* const weights = static_cast<const std::byte*>(call.weights);
    const float* x[largest_batch];
    aligned_tokens(context, call.x, call.batch, call.columns, x);

    const int rows_of_item = rows_per_item(call.rows, bytes, context.pool.threads(), rows_together);
    context.pool.run(item_count(call.rows, rows_of_item), [&](int item) {
        const int end = std::min(call.rows, (item + 1) * rows_of_item);
        for (int first = item * rows_of_item; first < end; first += rows_together) {
            const int rows = std::min(rows_together, end - first);
            float out[rows_together * largest_batch];
            const std::byte* const from = weights + static_cast<std::size_t>(first) * bytes;
            dot_rows(from, bytes, rows, call.columns, x, call.batch, out,
                     from + static_cast<std::size_t>(rows) * bytes);
            for (int t = 0; t < call.batch; ++t) {
                float* const y = call.y + static_cast<std::ptrdiff_t>(t) * call.rows + first;
                for (int r = 0; r < rows; ++r)
                    y[r] = out[r * call.batch + t] + (call.bias ? call.bias[first + r] : 0.0f);
            }
        }
    });
    return ASSAY_OK;
}

}  // namespace assay::kernels
