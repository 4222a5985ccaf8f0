// What a sparse FFN call must look like, and the memory it needs.
#pragma once

#include <cstddef>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

AssayStatus check_sparse_ffn(AssayContext& context, const AssaySparseFfn& call);
/// Floats at the start of the workspace: the activations of every neuron for every token. Padded,
/// so that what follows is aligned.
std::size_t activation_floats(const AssayFfn& ffn, int batch);

}  // namespace assay::kernels
