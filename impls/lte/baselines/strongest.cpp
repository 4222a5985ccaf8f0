#include "impls/lte/baselines/strongest.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "suite/experiment/error.hpp"

namespace assay::lte {

int units_kept(std::int64_t units, double sparsity) {
    if (!(sparsity >= 0 && sparsity < 1))
        throw UserError(
            fmt::format("a sparsity of {} is not possible; give 0 to below 1", sparsity));
    const auto kept = std::floor((1 - sparsity) * static_cast<double>(units) + 0.5);
    return static_cast<int>(std::max(1.0, kept));
}

at::Tensor strongest(const at::Tensor& scores, int count) {
    const auto ranked = scores.detach();
    auto used = at::zeros(ranked.sizes(), ranked.options().dtype(at::kBool));
    return used.scatter_(1, std::get<1>(ranked.topk(count, 1)), true);
}

}  // namespace assay::lte
