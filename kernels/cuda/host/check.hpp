// What calls of the CUDA back end must look like. Ids and counts of active experts lie on the
// device and are not looked at.
#pragma once

#include <string>

#include "kernels/assay_kernels.h"

namespace assay::kernels::cuda {

/// ASSAY_OK, or why a call is refused.
struct Verdict {
    AssayStatus status = ASSAY_OK;
    std::string why;
};

Verdict check(const AssayGemv& call);
Verdict check(const AssayRouter& call);
Verdict check(const AssaySparseFfn& call);
Verdict check(const AssayDispatch& call);
Verdict check(const AssayRowMove& call);
Verdict check(const AssayRowScores& call);
Verdict check(const AssayWeightGradient& call);
/// Whether this network has kernels, pointers aside.
Verdict check_network(const AssayFfn& ffn, int batch);

}  // namespace assay::kernels::cuda
