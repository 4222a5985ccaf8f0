// What is asked of every plan's input, whichever file it came from.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "impls/dr_post_training/policy/statistics.hpp"

namespace assay::dr_post_training {

/// Errors of one layer: "FILE: layer "NAME": …".
struct LayerPlace {
    std::string_view file;
    std::string layer;
    /// Throws UserError.
    [[noreturn]] void refuse(std::string_view why) const;
};

/// Makes `matrix` symmetric. Throws UserError where it is not so, or not positive semidefinite,
/// beyond 1e-6 of its largest entry. `what`: its key.
void check_gram(const LayerPlace& place, const char* what, Matrix& matrix);

/// Throws UserError where no gradients have these scores: the joint Gram matrix of rows and target
/// rows is indefinite, or without target_gram rows that hang together have scores that do not.
void check_scores(const LayerPlace& place, const GramStatistics& statistics);

/// The largest magnitude of each row.
struct LargestOfRows {
    std::vector<double> values;
    /// Of further columns of the same rows.
    void add(const Matrix& columns);
};

/// Throws UserError where a row has an entry and no length: its square is below what a double holds
/// exactly. `gram`: inner products of the rows with each other.
void check_lengths(const LayerPlace& place, const char* what, const LargestOfRows& largest,
                   const Matrix& gram);

/// Throws UserError where an inner product is not finite or too large to be squared.
void check_range(const LayerPlace& place, const GramStatistics& statistics);

/// Collects layers; each must have as many rows as the first, and a name of its own.
class InputBuilder {
  public:
    explicit InputBuilder(std::string_view file) : file_(file) {}
    /// Throws UserError: rows that are not as many as those of the first layer, or too many.
    void check_size(const LayerPlace& place, std::size_t rows, std::size_t target_rows);
    void add(Layer layer);
    /// Null: not given.
    void set_tokens(const nlohmann::json& tokens);
    void set_sources(const nlohmann::json& sources);
    /// Throws UserError where there is no layer.
    PlanInput finish();

  private:
    std::string_view file_;
    std::size_t layers_ = 0;  ///< announced by check_size
    PlanInput input_;
    bool has_tokens_ = false, has_sources_ = false;
    std::optional<std::pair<std::size_t, std::size_t>> size_;  ///< n, m
    std::string first_;                                        ///< layer
};

}  // namespace assay::dr_post_training
