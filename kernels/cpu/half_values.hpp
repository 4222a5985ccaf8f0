// Every half-precision number as a float. Quantised blocks carry such numbers; looking them up with
// a broadcasting load leaves the vector units to the weights, which converting them would not.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// 65,536 floats, by the bits of the half-precision number.
extern const float* const half_values;

}  // namespace assay::kernels
