// The update of one group of layers, by any set and toward any target.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "impls/dr_post_training/policy/cholesky.hpp"
#include "impls/dr_post_training/policy/sets/constraint_set.hpp"
#include "impls/dr_post_training/policy/sets/nonnegative.hpp"

namespace assay::dr_post_training {

/// Keeps what several targets and sets have in common: factors, the mean of the batch.
class GroupSolver {
  public:
    /// `row_weights`: [n] above 0 that add up to 1.
    GroupSolver(GramStatistics statistics, std::vector<double> row_weights);
    GroupSolver(const GroupSolver&) = delete;
    GroupSolver& operator=(const GroupSolver&) = delete;

    const GramStatistics& statistics() const { return statistics_; }

    /// n·w<g,v>, [n]
    std::vector<double> scores(const TargetDirection&) const;
    /// Throws SetRefused, and NotFinite for scores or products that a set would go by.
    Update update(SetKind, const SetSettings&, const TargetDirection&);
    Closeness closeness(const Update&, const TargetDirection&) const;
    /// <u, v_i> for a target row; u without that row: `update`, made for v without it.
    double gain_on(const Update& update, std::size_t target_row) const;

  private:
    std::vector<double> on_mean(double factor) const;
    Update of_rows(std::vector<std::size_t> rows) const;
    std::vector<double> subspace(double ridge, std::span<const double> scores);
    double mean_score(const TargetDirection&) const;

    GramStatistics statistics_;
    std::vector<double> w_;
    double mean_norm2_ = 0;  ///< |c|², c = Σ w_b g_b
    NonNegativeWeights simplex_, cone_;
    std::optional<Matrix> ridge_factor_;
    double factor_ridge_ = 0;
};

}  // namespace assay::dr_post_training
