// Triangular factors of symmetric matrices: of a whole one, and of one that grows and shrinks by a
// row at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "impls/dr_post_training/policy/matrix.hpp"

namespace assay::dr_post_training {

/// L with L Lᵀ = a + shift·I, a symmetric (the lower triangle is read). Nothing where the sum is
/// not positive definite to rounding.
std::optional<Matrix> cholesky(const Matrix& a, double shift);
/// x with L Lᵀ x = b.
std::vector<double> solve_with(const Matrix& factor, std::span<const double> b);

/// The factor of a[P][P] for a list P of rows.
class GrowingCholesky {
  public:
    std::size_t size() const { return rows_.size(); }
    /// One row more: `column` are its products with those before, `diagonal` with itself. False,
    /// and nothing changed, where it hangs on those before: what is left of the diagonal is at most
    /// `least` of it.
    bool append(std::span<const double> column, double diagonal, double least);
    void remove(std::size_t place);
    /// x with a[P][P] x = b.
    std::vector<double> solve(std::span<const double> b) const;

  private:
    std::vector<std::vector<double>> rows_;  ///< lower triangle, row i of i + 1 numbers
};

}  // namespace assay::dr_post_training
