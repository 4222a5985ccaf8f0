// The calls of the CPU back end; each checks its arguments. Meaning: kernels/assay_kernels.h.
#pragma once

#include <cstddef>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

constexpr int largest_batch = 16;

AssayStatus gemv(AssayContext& context, const AssayGemv& call);
AssayStatus router(AssayContext& context, const AssayRouter& call);
AssayStatus sparse_ffn(AssayContext& context, const AssaySparseFfn& call);
/// 0 for shapes and types that have no kernel.
std::size_t sparse_ffn_workspace(const AssayFfn& ffn, int batch);

/// Whether `batch` can be computed; if not, the context's error says why.
AssayStatus check_batch(AssayContext& context, int batch);
/// Fills rows[t] with the address of each token, aligned to vectors: of a copy where it was not. A
/// vector that lies across two cache lines takes two loads, and every row of weights loads x again.
void aligned_tokens(AssayContext& context, const float* x, int batch, int columns,
                    const float* (&rows)[largest_batch]);

}  // namespace assay::kernels
