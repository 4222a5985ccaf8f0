// What weights of an AssayType are: how many bytes they take, and half-precision numbers as floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

constexpr int weights_per_quantised_block = 32;

/// Callers in C can put any number where an enumeration stands; C++ may only look at it as a
/// number.
template <class Enumeration>
int as_number(const Enumeration& enumeration) {
    static_assert(sizeof(Enumeration) == sizeof(int));
    int number;
    std::memcpy(&number, &enumeration, sizeof number);
    return number;
}

inline bool is_known(const AssayType& type) {
    return as_number(type) >= ASSAY_F32 && as_number(type) <= ASSAY_Q4_1;
}
inline bool is_known(const AssayActivation& activation) {
    return as_number(activation) >= ASSAY_SWIGLU && as_number(activation) <= ASSAY_RELU;
}
constexpr bool is_quantised(AssayType type) { return type >= ASSAY_Q8_0 && type <= ASSAY_Q4_1; }

/// Weights that are stored together: 1, or 32 for the q types.
constexpr int weights_per_unit(AssayType type) {
    return is_quantised(type) ? weights_per_quantised_block : 1;
}

/// Bytes of one such unit: f16 scale and 32 int8 (q8_0), f16 scale and 32 nibbles (q4_0), f16
/// scale, f16 minimum and 32 nibbles (q4_1).
constexpr int bytes_per_unit(AssayType type) {
    switch (type) {
        case ASSAY_F32:
            return 4;
        case ASSAY_F16:
        case ASSAY_BF16:
            return 2;
        case ASSAY_Q8_0:
            return 34;
        case ASSAY_Q4_0:
            return 18;
        case ASSAY_Q4_1:
            return 20;
    }
    return 0;
}

/// Bytes of a row of `columns` weights; columns must be a multiple of weights_per_unit(type).
constexpr std::size_t row_bytes(AssayType type, std::int64_t columns) {
    return static_cast<std::size_t>(columns / weights_per_unit(type) * bytes_per_unit(type));
}

/// Every half-precision number as a float, by its bits: 65,536 of them, for processors that cannot
/// convert. (Where they can, a table is no help: weights that stream through push it out of the
/// second cache.)
extern const float* const half_values;

}  // namespace assay::kernels
