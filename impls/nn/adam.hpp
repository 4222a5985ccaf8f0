// Adam (Kingma & Ba, arXiv 1412.6980, algorithm 1) on one parameter block.
#pragma once

#include <cstdint>

#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

struct AdamOptions {
    double learning_rate = 2e-3;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double epsilon = 1e-8;
};

/// Applies block.grad() as update number `t` (1-based, equal for every block of the model).
void adam_update(ParameterBlock& block, std::int64_t t, const AdamOptions& options);

}  // namespace assay::nn
