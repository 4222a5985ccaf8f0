#include "kernels/cpu/calls.hpp"

#include <cstdint>
#include <cstring>

#include "kernels/cpu/context.hpp"

namespace assay::kernels {

AssayStatus check_batch(AssayContext& context, int batch) {
    if (batch < 1)
        return refuse(context, ASSAY_BAD_ARGUMENT,
                      "batch must be at least 1, not " + std::to_string(batch));
    if (batch > largest_batch)
        return refuse(context, ASSAY_UNSUPPORTED,
                      "batch is " + std::to_string(batch) + ", at most " +
                          std::to_string(largest_batch) + " are computed at once; split it");
    return ASSAY_OK;
}

void aligned_tokens(AssayContext& context, const float* x, int batch, int columns,
                    const float* (&rows)[largest_batch]) {
    constexpr int floats = vector_alignment / static_cast<int>(sizeof(float));
    const bool aligned = reinterpret_cast<std::uintptr_t>(x) % vector_alignment == 0 &&
                         (columns % floats == 0 || batch == 1);
    int stride = columns;
    if (!aligned) {
        stride = (columns + floats - 1) / floats * floats;
        float* const copy = context.aligned_floats(static_cast<std::size_t>(stride) *
                                                   static_cast<std::size_t>(batch));
        for (int t = 0; t < batch; ++t)
            std::memcpy(copy + static_cast<std::ptrdiff_t>(t) * stride,
                        x + static_cast<std::ptrdiff_t>(t) * columns,
                        static_cast<std::size_t>(columns) * sizeof(float));
        x = copy;
    }
    for (int t = 0; t < batch; ++t) rows[t] = x + static_cast<std::ptrdiff_t>(t) * stride;
}

}  // namespace assay::kernels
