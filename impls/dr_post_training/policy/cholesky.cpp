#include "impls/dr_post_training/policy/cholesky.hpp"

#include <cmath>

namespace assay::dr_post_training {

std::optional<Matrix> cholesky(const Matrix& a, double shift) {
    Matrix factor(a.rows, a.rows);
    for (std::size_t i = 0; i < a.rows; ++i) {
        const auto row = factor.row(i);
        for (std::size_t j = 0; j < i; ++j)
            row[j] = (a(i, j) - dot(row.first(j), factor.row(j).first(j))) / factor(j, j);
        const double left = a(i, i) + shift - dot(row.first(i), row.first(i));
        if (!(left > 0) || !std::isfinite(left)) return std::nullopt;
        row[i] = std::sqrt(left);
    }
    return factor;
}

std::vector<double> solve_with(const Matrix& factor, std::span<const double> b) {
    std::vector<double> x(b.begin(), b.end());
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = (x[i] - dot(factor.row(i).first(i), std::span(x).first(i))) / factor(i, i);
    for (std::size_t i = x.size(); i-- > 0;) {
        x[i] /= factor(i, i);
        for (std::size_t j = 0; j < i; ++j) x[j] -= factor(i, j) * x[i];
    }
    return x;
}

bool GrowingCholesky::append(std::span<const double> column, double diagonal, double least) {
    std::vector<double> row(column.begin(), column.end());
    for (std::size_t j = 0; j < row.size(); ++j)
        row[j] =
            (row[j] - dot(std::span(row).first(j), std::span(rows_[j]).first(j))) / rows_[j][j];
    const double left = diagonal - dot(row, row);
    if (!(left > least * diagonal)) return false;
    row.push_back(std::sqrt(left));
    rows_.push_back(std::move(row));
    return true;
}

void GrowingCholesky::remove(std::size_t place) {
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(place));
    // Each row from here on has a number above the diagonal: turned into the column before.
    for (std::size_t i = place; i < rows_.size(); ++i) {
        const double length = std::hypot(rows_[i][i], rows_[i][i + 1]);
        const double c = rows_[i][i] / length, s = rows_[i][i + 1] / length;
        for (std::size_t t = i; t < rows_.size(); ++t) {
            const double x = rows_[t][i], y = rows_[t][i + 1];
            rows_[t][i] = c * x + s * y;
            rows_[t][i + 1] = c * y - s * x;
        }
        rows_[i].pop_back();
    }
}

std::vector<double> GrowingCholesky::solve(std::span<const double> b) const {
    std::vector<double> x(b.begin(), b.end());
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = (x[i] - dot(std::span(rows_[i]).first(i), std::span(x).first(i))) / rows_[i][i];
    for (std::size_t i = x.size(); i-- > 0;) {
        x[i] /= rows_[i][i];
        for (std::size_t j = 0; j < i; ++j) x[j] -= rows_[i][j] * x[i];
    }
    return x;
}

}  // namespace assay::dr_post_training
