// GEMV and router in double precision, with bounds of what 32-bit sums may differ by.
#pragma once

#include <vector>

#include "kernels/assay_kernels.h"

namespace assay::kernels::reference {

/// A value and how far a 32-bit result may lie from it.
struct Bounded {
    double value = 0;
    double error = 0;
};

/// weights row · x. The bound: every product passes through at most columns / 16 additions of its
/// partial sum and at most twelve that join partial sums, or roundings of its own and of its
/// weight, each of half a unit in the last place.
Bounded dot(AssayType type, const std::byte* row, const float* x, int columns);

/// [batch][rows]
std::vector<Bounded> gemv(const AssayGemv& call);

}  // namespace assay::kernels::reference
