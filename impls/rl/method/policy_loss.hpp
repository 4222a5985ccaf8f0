// What the policy is trained on, token by token, so that whoever selects rows can weigh them apart.
#pragma once

#include <ATen/core/Tensor.h>

namespace assay::rl {

/// All tensors here are fp32 [rows, length] unless they say otherwise.

struct Clipping {
    double below = 0.2, above = 0.2;  ///< the ratio of probabilities counts from 1−below to 1+above
};

/// PPO's clipped objective as a loss (Schulman et al., arXiv 1707.06347, eq. 7):
/// −min(r·A, clip(r)·A), r = exp(now − drawn_with). `now` carries the graph.
/// advantages: [rows, length], or [rows, 1] where all tokens of an answer share theirs (GRPO).
at::Tensor clipped_losses(const at::Tensor& now, const at::Tensor& drawn_with,
                          const at::Tensor& advantages, const Clipping& clipping = {});

/// Estimate of KL(now ‖ reference) from one draw of now that is never negative, as GRPO has it
/// (arXiv 2402.03300, eq. 4): d − ln d − 1, d = exp(reference − now). With graph.
at::Tensor divergences(const at::Tensor& now, const at::Tensor& reference);

/// PPO's clipped loss of the critic: ½·max((v − R)², (clip(v, old ± range) − R)²).
at::Tensor value_losses(const at::Tensor& values, const at::Tensor& old_values,
                        const at::Tensor& returns, double range = 0.2);

/// How losses of tokens become one: the mean over all tokens, or the mean over answers of the mean
/// over an answer's tokens (GRPO as published).
enum class Averaging { tokens, answers };

/// Weights with which losses add up to that mean: fp32 [rows, length], 0 where `answered`
/// (bool [rows, length]) is false; they sum to 1 where anything was answered.
at::Tensor averaging_weights(const at::Tensor& answered, Averaging averaging);

}  // namespace assay::rl
