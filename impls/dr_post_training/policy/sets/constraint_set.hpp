// The feasible sets of update directions that general data span, and the member of each that is
// nearest to the target's direction, as weights of rows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/policy/statistics.hpp"
#include "suite/base/describe.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {

/// Specification, sections 1.2 to 1.4 and 5. With row weights w, g_b the gradient of row b's mean
/// loss, v the target's, c = Σ w_b g_b:
/// full: c. topk: the k rows with the largest n·w<g,v>. greedy: k rows, one after the other, with
/// the second-order term (GREATS). exact: the k rows whose weighted mean is nearest to v. filter:
/// drops rows with negative scores. These subsets weigh w / its sum. simplex, cone: the nearest
/// point with weights ≥ 0 (that add up to 1). subspace: the nearest in the span, by ridge. ball:
/// the nearest within radius·|c| around c. halfspace: v without what opposes c (A-GEM). target: v.
enum class SetKind {
    full,
    topk,
    greedy,
    exact,
    filter,
    simplex,
    cone,
    subspace,
    ball,
    halfspace,
    target
};
ASSAY_NAMES(SetKind, full, topk, greedy, exact, filter, simplex, cone, subspace, ball, halfspace,
            target)
inline constexpr auto set_kinds = values_of<SetKind>;

/// topk, greedy, exact, filter: rows are in or out.
bool selects(SetKind);
/// ball, halfspace, target: cannot do without |v|.
bool needs_target_norm(SetKind);

struct SetSettings {
    std::size_t k = 1;    ///< topk, greedy, exact: of n rows, 1 to n
    double drop = 1;      ///< filter: share of the negative rows, 0 to 1
    double eta = 1e-5;    ///< greedy: above 0
    double ridge = 1e-3;  ///< subspace: λ = ridge · trace / n; above 0
    double radius = 1;    ///< ball: 0 or more
};

/// max(1, ⌊fraction · n⌋)
std::size_t rows_of_fraction(double fraction, std::size_t rows);

/// u = Σ weights_b g_b + target_weight · v.
struct Update {
    std::optional<std::vector<std::size_t>> selected;  ///< ascending; absent: the set selects none
    std::vector<double> weights;                       ///< [n]
    double target_weight = 0;
};

/// Why a set cannot be had for these statistics: too many subsets, no |v|, a ridge below rounding.
class SetRefused : public UserError {
    using UserError::UserError;
};

/// A score or an inner product is not a number, or infinite: a step whose activations overflowed.
/// Nothing can be ranked by it.
class NotFinite : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws NotFinite ("2 of 16 WHAT are not finite").
void demand_finite(std::span<const double> values, std::string_view what);

/// Of an update u and a target direction v.
struct Closeness {
    double dot = 0;                   ///< <u, v>
    double norm2 = 0;                 ///< |u|²; 0 where it is at most 1e-14 of its largest term
    std::optional<double> distance2;  ///< |u − v|²; absent: |v| is not known
};

/// Most subsets among which `exact` looks for the nearest.
inline constexpr double most_subsets = 1e6;
/// Scores within this share of the largest are equal, gains likewise.
inline constexpr double equal_scores = 1e-12, equal_gains = 1e-9;
/// A squared norm up to this share of its largest term is 0.
inline constexpr double rounding_of_norm2 = 1e-14;

}  // namespace assay::dr_post_training
