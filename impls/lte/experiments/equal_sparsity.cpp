#include "impls/lte/experiments/equal_sparsity.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace assay::lte {

LossBounds loss_at(std::vector<QualityPoint> points, double sparsity) {
    if (points.empty()) throw std::invalid_argument("a method without a measurement");
    std::sort(points.begin(), points.end(),
              [](const QualityPoint& a, const QualityPoint& b) { return a.sparsity < b.sparsity; });
    const QualityPoint &first = points.front(), &last = points.back();
    constexpr double unknown = std::numeric_limits<double>::infinity();
    if (sparsity < first.sparsity - equal_sparsity) return {-unknown, first.loss};
    if (sparsity > last.sparsity + equal_sparsity) return {last.loss, unknown};
    if (sparsity <= first.sparsity) return {first.loss, first.loss};
    if (sparsity >= last.sparsity) return {last.loss, last.loss};
    const auto above = std::find_if(points.begin(), points.end(), [&](const QualityPoint& point) {
        return point.sparsity >= sparsity;
    });
    const QualityPoint &left = *(above - 1), &right = *above;
    const double share = (sparsity - left.sparsity) / (right.sparsity - left.sparsity);
    const double loss = left.loss + share * (right.loss - left.loss);
    return {loss, loss};
}

}  // namespace assay::lte
