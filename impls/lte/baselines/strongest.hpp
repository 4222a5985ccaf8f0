// How many units a sparsity leaves, and which are the strongest.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace assay::lte {

/// Units of `units` that remain at a sparsity of 0 … 1: rounded to the nearest whole number (halves
/// up), at least one. Throws UserError for a sparsity outside [0, 1).
int units_kept(std::int64_t units, double sparsity);

/// Exactly `count` units of each row, those with the largest scores: bool [tokens, N]. Which of
/// equal scores are taken is up to topk, and the same every time. scores: [tokens, N]; no gradient.
at::Tensor strongest(const at::Tensor& scores, int count);

}  // namespace assay::lte
