// The sparse feed-forward network in double precision, with bounds.
#pragma once

#include <vector>

#include "kernels/assay_kernels.h"
#include "kernels/reference/gemv.hpp"

namespace assay::kernels::reference {

/// [batch][width]
std::vector<Bounded> sparse_ffn(const AssaySparseFfn& call);

}  // namespace assay::kernels::reference
