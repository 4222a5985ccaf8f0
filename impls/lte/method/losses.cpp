#include "impls/lte/method/losses.hpp"

#include <ATen/TensorOperators.h>

namespace assay::lte {

at::Tensor efficiency_loss(const at::Tensor& scores) { return scores.square().mean(); }

at::Tensor separability_loss(const at::Tensor& scores, double tau, double eps) {
    return ((scores - tau).square() + eps).reciprocal().mean();
}

}  // namespace assay::lte
