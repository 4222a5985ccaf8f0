// Gradients drawn at random, and what the policy's results must be worked out by: in the space of
// the gradients themselves, not of their inner products.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "impls/dr_post_training/policy/statistics.hpp"

namespace assay::dr_post_training {

class RandomNumbers {
  public:
    explicit RandomNumbers(std::uint64_t seed) : random_(seed) {}
    std::size_t below(std::size_t n) { return random_() % n; }
    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    double normal() {
        return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform());
    }
    Matrix matrix(std::size_t rows, std::size_t columns) {
        Matrix matrix(rows, columns);
        for (double& value : matrix.values) value = normal();
        return matrix;
    }

  private:
    std::mt19937_64 random_;
};

/// Σ weights_b rows_b
inline std::vector<double> sum_of_rows(const Matrix& rows, const std::vector<double>& weights) {
    std::vector<double> sum(rows.columns);
    for (std::size_t b = 0; b < rows.rows; ++b)
        for (std::size_t j = 0; j < rows.columns; ++j) sum[j] += weights[b] * rows(b, j);
    return sum;
}

inline std::vector<double> mean_row(const Matrix& rows, std::size_t without = SIZE_MAX) {
    std::vector<double> weights(rows.rows,
                                1.0 / static_cast<double>(rows.rows - (without < rows.rows)));
    if (without < rows.rows) weights[without] = 0;
    return sum_of_rows(rows, weights);
}

inline double inner(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

inline double distance2(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

}  // namespace assay::dr_post_training
