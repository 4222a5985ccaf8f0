#include "impls/dr_post_training/experiments/drawn_gradients.hpp"

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace assay::dr_post_training {
namespace {

// The same numbers everywhere: the standard's distributions are not.
class Draws {
  public:
    explicit Draws(std::uint64_t seed) : random_(seed) {}
    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    double normal() {
        return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform());
    }

  private:
    std::mt19937_64 random_;
};

}  // namespace

DrawnGradients draw_gradients(const DrawnShape& shape, std::uint64_t seed) {
    Draws draws(seed);
    const double size = 1 / std::sqrt(static_cast<double>(shape.width));
    std::vector<double> common(shape.width);
    for (double& value : common) value = shape.common * size * draws.normal();
    const auto rows = [&](std::size_t count, double relevance) {
        Matrix matrix(count, shape.width);
        for (std::size_t b = 0; b < count; ++b) {
            const double sign = draws.uniform() < relevance ? 1 : -1;
            for (std::size_t j = 0; j < shape.width; ++j)
                matrix(b, j) = sign * common[j] + size * draws.normal();
        }
        return matrix;
    };
    DrawnGradients drawn;
    drawn.gradients = rows(shape.rows, shape.relevance);
    drawn.target = rows(shape.target_rows, 1);
    return drawn;
}

}  // namespace assay::dr_post_training
