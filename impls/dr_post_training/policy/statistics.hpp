// What the policy is told of gradients: their inner products. Every constraint set is then solved
// in n dimensions, the rows of the general batch, whatever the number of parameters (specification
// of arXiv 2605.07063, section 1.3).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "impls/dr_post_training/policy/matrix.hpp"

namespace assay::dr_post_training {

/// Of one layer, or summed over a group's layers.
struct GramStatistics {
    Matrix gram;                        ///< [n][n]: <g_b, g_c>
    Matrix scores;                      ///< [n][m]: <g_b, v_i>
    std::optional<Matrix> target_gram;  ///< [m][m]: <v_i, v_j>; absent: not known

    std::size_t rows() const { return scores.rows; }            ///< n
    std::size_t target_rows() const { return scores.columns; }  ///< m
    /// As of both layers together; target_gram is unknown where one of them is.
    GramStatistics& operator+=(const GramStatistics& other);
};

/// Of gradients [n][d] and target gradients [m][d].
GramStatistics statistics_of(const Matrix& gradients, const Matrix& target);

/// The direction that the target asks for, v: the mean of target rows, by its products.
struct TargetDirection {
    std::vector<double> scores;   ///< [n]: <g_b, v>
    std::optional<double> norm2;  ///< |v|²
};
/// The mean of all target rows, or of all but `without` (then m > 1).
TargetDirection target_direction(const GramStatistics& statistics,
                                 std::optional<std::size_t> without = {});

struct Layer {
    std::string name;
    std::optional<std::string> block, part;
    GramStatistics statistics;
};

/// What a plan is made of; all layers have the same n and m.
struct PlanInput {
    std::vector<Layer> layers;
    std::vector<double> tokens;        ///< [n] above 0, or empty: all alike
    std::vector<std::string> sources;  ///< [n], or empty
    bool numbered_sources = false;     ///< they are whole numbers

    std::size_t rows() const { return layers.front().statistics.rows(); }
    std::size_t target_rows() const { return layers.front().statistics.target_rows(); }
};

/// tokens / their sum; 1/n each where there are none.
std::vector<double> row_weights(std::span<const double> tokens, std::size_t rows);

}  // namespace assay::dr_post_training
