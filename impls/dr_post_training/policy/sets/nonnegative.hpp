// The nearest point to a target with weights that are not negative: of the cone, or of the simplex,
// where they add up to 1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "impls/dr_post_training/policy/cholesky.hpp"
#include "impls/dr_post_training/policy/matrix.hpp"

namespace assay::dr_post_training {

/// min over w of ½ wᵀKw − sᵀw, w ≥ 0. An active-set method (after Lawson and Hanson 1974) on the
/// Gram matrix: the rows with weight keep a triangular factor, each step lets in the rows that
/// the rest points to most, and rows whose weight would turn negative leave. Rows that hang on
/// those with weight are passed over, so that any of several minimisers is found. A solver begins
/// with the weights of its last solution.
class NonNegativeWeights {
  public:
    enum class Sum { free, one };
    /// `gram` outlives this.
    NonNegativeWeights(const Matrix& gram, Sum sum);

    /// `scores`: s = <g_b, v>.
    std::vector<double> solve(std::span<const double> scores);

  private:
    double product(std::size_t a, std::size_t b) const {
        return (*gram_)(a, b) * unit_[a] * unit_[b] + lift_;
    }
    void begin(std::span<const double> scores);
    bool let_in(std::size_t row);
    void put_out(std::size_t place);
    std::vector<double> unbounded(std::span<const double> scores) const;
    void descend(std::span<const double> scores);
    /// The rows that the rest points to at least half as much as to any, the best first.
    std::vector<std::size_t> best_rows(std::span<const double> scores,
                                       const std::vector<bool>& passed_over) const;

    const Matrix* gram_;
    Sum sum_;
    /// Added to every product where the weights add up to 1, which moves the aim by a constant and
    /// makes rows independent that only differences tell apart.
    double lift_ = 0;
    /// Where they need not add up to anything each row is solved for at length 1: no row drowns
    /// another. Otherwise 1.
    std::vector<double> unit_;
    std::vector<std::size_t> rows_;  ///< with weight, in the factor's order
    std::vector<double> weights_;    ///< of rows_
    GrowingCholesky factor_;
};

}  // namespace assay::dr_post_training
