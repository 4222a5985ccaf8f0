// The grids of pairs that Hodges-Lehmann estimates select from (pair_selection.hpp).
#pragma once

#include <vector>

namespace assay::statistics {

/// b - a for every pair; both ascending.
struct DifferenceGrid {
    std::vector<double> a, b;
    std::size_t rows() const { return a.size(); }
    std::size_t columns() const { return b.size(); }
    std::size_t first(std::size_t) const { return 0; }
    double value(std::size_t row, std::size_t column) const { return b[column] - a[row]; }
};

/// b / a for every pair; both positive and ascending. In the order of the differences of their
/// logarithms, but without taking any, so that scaling by two changes no digit.
struct QuotientGrid {
    std::vector<double> a, b;
    std::size_t rows() const { return a.size(); }
    std::size_t columns() const { return b.size(); }
    std::size_t first(std::size_t) const { return 0; }
    double value(std::size_t row, std::size_t column) const { return b[column] / a[row]; }
};

/// (x[i] + x[j]) / 2 for every i <= j; x ascending. Rows run from the largest x down.
struct AverageGrid {
    std::vector<double> x;
    std::size_t rows() const { return x.size(); }
    std::size_t columns() const { return x.size(); }
    std::size_t first(std::size_t row) const { return x.size() - 1 - row; }
    double value(std::size_t row, std::size_t column) const {
        return x[column] / 2 + x[x.size() - 1 - row] / 2;
    }
};

}  // namespace assay::statistics
