// Sets whose members are subsets of the rows: which rows are in.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "impls/dr_post_training/policy/sets/constraint_set.hpp"

namespace assay::dr_post_training {

// Every function returns ascending numbers of rows. Scores that differ by at most equal_scores of
// the largest are equal. Scores and products are finite: select_topk and select_filter throw
// NotFinite, for the others GroupSolver does.

/// The k largest scores; of equal ones the lower number.
std::vector<std::size_t> select_topk(std::span<const double> scores, std::size_t k);

/// Drops the ⌊drop · negatives⌋ most negative scores; of equal ones the higher number first.
std::vector<std::size_t> select_filter(std::span<const double> scores, double drop);

/// k times the row with the largest eta·w<g,v>, from which then eta²·ww<g,g> with the rows taken
/// so far is subtracted; of equal ones the lower number (specification, section 1.4).
std::vector<std::size_t> select_greedy(const Matrix& gram, std::span<const double> target_scores,
                                       std::span<const double> row_weights, std::size_t k,
                                       double eta);

/// The k rows whose weighted mean is nearest to the target, out of all; of equally near ones the
/// first in lexicographic order. Throws SetRefused where there are more than most_subsets.
std::vector<std::size_t> select_exact(const Matrix& gram, std::span<const double> target_scores,
                                      std::span<const double> row_weights, std::size_t k);

/// Number of k-subsets of n, or more than most_subsets where that is exceeded.
double subsets(std::size_t n, std::size_t k);

}  // namespace assay::dr_post_training
