#include "impls/rl/method/policy_loss.hpp"

#include <ATen/ATen.h>

namespace assay::rl {

at::Tensor clipped_losses(const at::Tensor& now, const at::Tensor& drawn_with,
                          const at::Tensor& advantages, const Clipping& clipping) {
    const auto ratio = (now - drawn_with).exp();
    const auto clipped = ratio.clamp(1 - clipping.below, 1 + clipping.above);
    return -at::minimum(ratio * advantages, clipped * advantages);
}

at::Tensor divergences(const at::Tensor& now, const at::Tensor& reference) {
    const auto difference = reference - now;
    return at::expm1(difference) - difference;
}

at::Tensor value_losses(const at::Tensor& values, const at::Tensor& old_values,
                        const at::Tensor& returns, double range) {
    const auto kept = old_values + (values - old_values).clamp(-range, range);
    return 0.5 * at::maximum((values - returns).square(), (kept - returns).square());
}

at::Tensor averaging_weights(const at::Tensor& answered, Averaging averaging) {
    const auto counted = answered.to(at::kFloat);
    if (averaging == Averaging::tokens) return counted / counted.sum().clamp_min(1);
    const auto of_answer = counted.sum(1, /*keepdim=*/true);
    const auto answers = (of_answer > 0).sum().to(at::kFloat).clamp_min(1);
    return counted / of_answer.clamp_min(1) / answers;
}

}  // namespace assay::rl
