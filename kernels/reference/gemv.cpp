#include "kernels/reference/gemv.hpp"

#include <cmath>

#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/floats.hpp"

namespace assay::kernels::reference {

Bounded dot(AssayType type, const std::byte* row, const float* x, int columns) {
    double sum = 0, magnitude = 0;
    for (int c = 0; c < columns; ++c) {
        const double product = weight_at(type, row, c) * x[c];
        sum += product;
        magnitude += std::fabs(product);
    }
    constexpr double half_unit = 0x1p-24;
    return {sum, (columns / 16 + 12) * half_unit * magnitude};
}

std::vector<Bounded> gemv(const AssayGemv& call) {
    const std::size_t bytes = row_bytes(call.type, call.columns);
    std::vector<Bounded> y;
    for (int b = 0; b < call.batch; ++b)
        for (int r = 0; r < call.rows; ++r) {
            const auto* const row =
                static_cast<const std::byte*>(call.weights) + static_cast<std::size_t>(r) * bytes;
            Bounded result =
                dot(call.type, row, call.x + static_cast<std::ptrdiff_t>(b) * call.columns,
                    call.columns);
            if (call.bias) result.value += call.bias[r];
            result.error += std::fabs(result.value) * 0x1p-23;
            y.push_back(result);
        }
    return y;
}

}  // namespace assay::kernels::reference
