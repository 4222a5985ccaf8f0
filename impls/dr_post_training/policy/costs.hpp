// What scoring costs: FLOPs and elements held, by back end, of linear maps out × in (specification,
// section 2.1). Closed forms, in double.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::dr_post_training {

/// direct: every row's gradient. gip: inner products token by token, without gradients. pip: tokens
/// through the target's gradient. compressed: gradients between random projections, not exact.
enum class Scoring { direct, gip, pip, compressed };
ASSAY_NAMES(Scoring, direct, gip, pip, compressed)
inline constexpr auto scorings = values_of<Scoring>;

/// A number for each of `scorings`, in that order.
using PerScoring = std::array<double, scorings.size()>;

struct LinearMap {
    double out = 0, in = 0;
    double count = 1;  ///< so many alike
};

struct CostSettings {
    double n = 8, m = 1;                             ///< rows of the general batch, of the target
    double k = 4;                                    ///< rows that are kept
    double tokens = 512;                             ///< of a row
    double compressed_out = 64, compressed_in = 64;  ///< a, b
    std::optional<double> budget_bytes;              ///< for what scoring one map holds, fp32
};

struct LinearCosts {
    LinearMap map;
    PerScoring flops{}, elements{};  ///< of one map
    /// The exact one with the fewest FLOPs among those within the budget; of equal ones gip, pip,
    /// direct. Absent: none is.
    std::optional<Scoring> best;
};

struct ScoringCosts {
    std::vector<LinearCosts> maps;
    PerScoring flops{};      ///< of all maps
    PerScoring elements{};   ///< of the map that needs most: they are scored one after the other
    double crossover_m = 0;  ///< V*: from so many target rows on pip has fewer FLOPs than gip
    double crossover_tokens = 0;  ///< T*: below so many tokens pip holds less than direct
    /// FLOPs that a training step with scoring has more than a plain one, as a share of it.
    PerScoring overhead_flops{};
};

/// All numbers at least 1 (k at most n), the budget at least 0. `maps` not empty.
ScoringCosts scoring_costs(const std::vector<LinearMap>& maps, const CostSettings& settings);

}  // namespace assay::dr_post_training
