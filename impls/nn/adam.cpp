#include "impls/nn/adam.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

namespace assay::nn {

void adam_update(ParameterBlock& block, std::int64_t t, const AdamOptions& options) {
    at::NoGradGuard no_grad;
    const auto& g = block.grad();
    auto& m = block.first_moment();
    auto& v = block.second_moment();
    m.mul_(options.beta1).add_(g, 1 - options.beta1);
    v.mul_(options.beta2).addcmul_(g, g, 1 - options.beta2);
    const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(t));
    const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(t));
    const auto denominator = (v / correction2).sqrt_().add_(options.epsilon);
    block.values().addcdiv_(m, denominator, -options.learning_rate / correction1);
}

}  // namespace assay::nn
