#include "impls/dr_post_training/policy/matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace assay::dr_post_training {
namespace {

// Sums in lanes: the compiler may not reorder a plain loop's.
using Lanes [[gnu::vector_size(2 * sizeof(double))]] = double;
constexpr std::size_t lanes = 2;

Lanes load(const double* at) {
    Lanes value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// <a0,b0>, <a0,b1>, <a1,b0>, <a1,b1>: each number that is loaded serves twice.
std::array<double, 4> four_products(const double* a0, const double* a1, const double* b0,
                                    const double* b1, std::size_t length) {
    std::array<Lanes, 4> sums{};
    std::size_t i = 0;
    for (; i + lanes <= length; i += lanes) {
        const Lanes x0 = load(a0 + i), x1 = load(a1 + i), y0 = load(b0 + i), y1 = load(b1 + i);
        sums[0] += x0 * y0;
        sums[1] += x0 * y1;
        sums[2] += x1 * y0;
        sums[3] += x1 * y1;
    }
    std::array<double, 4> result{};
    for (std::size_t s = 0; s < result.size(); ++s) result[s] = sums[s][0] + sums[s][1];
    for (; i < length; ++i) {
        result[0] += a0[i] * b0[i];
        result[1] += a0[i] * b1[i];
        result[2] += a1[i] * b0[i];
        result[3] += a1[i] * b1[i];
    }
    return result;
}

/// Rows from `first_j(i)` on of b with each two rows of a.
template <class First>
void add_pairs(const Matrix& a, const Matrix& b, Matrix& sums, First first_j) {
    const std::size_t length = a.columns;
    for (std::size_t i = 0; i < a.rows; i += 2) {
        const std::size_t i1 = std::min(i + 1, a.rows - 1);
        for (std::size_t j = first_j(i); j < b.rows; j += 2) {
            const std::size_t j1 = std::min(j + 1, b.rows - 1);
            const auto found = four_products(a.row(i).data(), a.row(i1).data(), b.row(j).data(),
                                             b.row(j1).data(), length);
            sums(i, j) += found[0];
            if (j1 > j) sums(i, j1) += found[1];
            if (i1 > i) sums(i1, j) += found[2];
            if (i1 > i && j1 > j) sums(i1, j1) += found[3];
        }
    }
}

}  // namespace

Matrix& Matrix::operator+=(const Matrix& other) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
    return *this;
}

double Matrix::largest() const {
    double most = 0;
    for (const double value : values) most = std::max(most, std::abs(value));
    return most;
}

double dot(std::span<const double> a, std::span<const double> b) {
    std::array<Lanes, 4> sums{};
    constexpr std::size_t stride = lanes * 4;
    const std::size_t length = a.size();
    std::size_t i = 0;
    for (; i + stride <= length; i += stride)
        for (std::size_t s = 0; s < sums.size(); ++s)
            sums[s] += load(a.data() + i + s * lanes) * load(b.data() + i + s * lanes);
    const Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double result = all[0] + all[1];
    for (; i < length; ++i) result += a[i] * b[i];
    return result;
}

void add_products(const Matrix& a, const Matrix& b, Matrix& sums) {
    add_pairs(a, b, sums, [](std::size_t) { return std::size_t{0}; });
}

void add_products(const Matrix& a, Matrix& sums) {
    add_pairs(a, a, sums, [](std::size_t i) { return i; });
    for (std::size_t i = 0; i < sums.rows; ++i)
        for (std::size_t j = 0; j < i; ++j) sums(i, j) = sums(j, i);
}

}  // namespace assay::dr_post_training
