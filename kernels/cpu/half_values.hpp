// Every half-precision number as a float, for processors that cannot convert them. (Where they can,
// a table is no help: weights that stream through push it out of the second cache.)
#pragma once

#include <cstdint>

namespace assay::kernels {

/// 65,536 floats, by the bits of the half-precision number.
extern const float* const half_values;

}  // namespace assay::kernels
