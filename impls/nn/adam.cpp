#include "impls/nn/adam.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace assay::nn {

void adam_update(ParameterBlock& block, std::int64_t t, const AdamOptions& options) {
    at::NoGradGuard no_grad;
    // The fused kernel reads and writes each element once; AdamW without weight decay is Adam.
    const auto step = at::full({}, t, block.values().options().dtype(at::kFloat));
    at::_fused_adamw_({block.values()}, {block.grad()}, {block.first_moment()},
                      {block.second_moment()}, {}, {step}, options.learning_rate, options.beta1,
                      options.beta2, /*weight_decay=*/0, options.epsilon, /*amsgrad=*/false,
                      /*maximize=*/false);
}

}  // namespace assay::nn
