// The regularisers of stage 1 (paper Eqs. 4 to 6), exactly, and their guarded form.
#pragma once

#include <ATen/core/Tensor.h>

namespace assay::lte {

/// Eq. 4 for one layer, averaged over tokens: mean(G²). scores: [tokens, N].
at::Tensor efficiency_loss(const at::Tensor& scores);

/// Eq. 5 for one layer, averaged over tokens: mean(1 / ((G − tau)² + eps)). The paper has eps = 0,
/// which is singular at G = tau.
at::Tensor separability_loss(const at::Tensor& scores, double tau, double eps);

}  // namespace assay::lte
