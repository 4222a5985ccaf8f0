// Gradients without a model, drawn at random: for what is exact whatever the gradients.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impls/dr_post_training/policy/matrix.hpp"

namespace assay::dr_post_training {

/// Rows and target rows share a direction, and are otherwise normal and independent.
struct DrawnShape {
    std::size_t rows = 8, target_rows = 1, width = 64;
    double common = 0;       ///< length of the shared direction in a row; 1 is as long as the rest
    double relevance = 0.5;  ///< share of the rows that have it; the others have its opposite
};

struct DrawnGradients {
    Matrix gradients, target;  ///< [n][d], [m][d]
};

/// Every number has a variance of 1/width, so that a row is about 1 long. One seed, one draw, on
/// every machine.
DrawnGradients draw_gradients(const DrawnShape& shape, std::uint64_t seed);

}  // namespace assay::dr_post_training
