// Inner products of rows' gradients, map by map: what the policy's plan is made of, on a model that
// is being trained.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/dr_post_training/policy/statistics.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/text/scored_rows.hpp"

namespace assay::dr_post_training {

/// The layers of a plan for the decoder's linear maps (nn::linear_maps()), by name, block and part,
/// without statistics.
std::vector<Layer> plan_layers(const nn::DecoderConfig&);

/// Gradients of each row's mean loss: one tensor [rows, numbers] for every map, fp32. The decoder's
/// gradients are zero afterwards.
std::vector<at::Tensor> gradients_by_map(const nn::Decoder&,
                                         const std::vector<nn::ScoredRow>& rows);

/// <a's row i, b's row j>, in double: [rows of a][rows of b].
Matrix products_of(const at::Tensor& a, const at::Tensor& b);

/// What `assay plan dr_post_training` would read: general rows, which count as `mean` has it,
/// against target rows.
PlanInput plan_input(const nn::Decoder&, const std::vector<nn::ScoredRow>& general,
                     const std::vector<nn::ScoredRow>& target, LossMean mean);

}  // namespace assay::dr_post_training
