// Matrices as the policy needs them: small, dense, of doubles.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::dr_post_training {

struct Matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<double> values;  ///< row by row

    Matrix() = default;
    Matrix(std::size_t rows, std::size_t columns)
        : rows(rows), columns(columns), values(rows * columns) {}

    double& operator()(std::size_t row, std::size_t column) {
        return values[row * columns + column];
    }
    double operator()(std::size_t row, std::size_t column) const {
        return values[row * columns + column];
    }
    std::span<double> row(std::size_t i) { return {values.data() + i * columns, columns}; }
    std::span<const double> row(std::size_t i) const {
        return {values.data() + i * columns, columns};
    }
    /// Of equal shapes.
    Matrix& operator+=(const Matrix& other);
    double largest() const;  ///< the largest magnitude; 0 where there are no values

    bool operator==(const Matrix&) const = default;
};

/// The sum of products, in an order of its own that is the same everywhere. Equal lengths.
double dot(std::span<const double> a, std::span<const double> b);

/// sums(i, j) += <a's row i, b's row j>. Both with as many columns.
void add_products(const Matrix& a, const Matrix& b, Matrix& sums);
/// The same of a with itself; the lower triangle is that of the upper.
void add_products(const Matrix& a, Matrix& sums);

}  // namespace assay::dr_post_training
