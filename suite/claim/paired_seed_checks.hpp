// Custom checks of claims whose verdict rests on a 95 % interval over seeds, and what such checks
// share. A verdict reads "not run" while a point is missing that it needs, "open discrepancy" where
// the interval spans the margin.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "suite/claim/claim.hpp"
#include "suite/measure/statistics/mean_interval.hpp"

namespace assay::claims {

/// Seed by seed, `of` is more than the claim's value (1) times `over`: the interval of the mean
/// difference, in pairs, lies above 0.
ClaimCheck clearly_greater(const Claim&, std::span<const Observation>);
/// `of`, or with `over` its ratio to the other side seed by seed, is at most, at least the claim's
/// value: the interval of its mean over seeds is.
ClaimCheck clearly_at_most(const Claim&, std::span<const Observation>);
ClaimCheck clearly_at_least(const Claim&, std::span<const Observation>);
/// From each value of `along` to the next one `of` rises, seed by seed: the interval of the mean
/// difference lies above 0.
ClaimCheck clearly_increasing(const Claim&, std::span<const Observation>);

ClaimCheck not_run_yet(const Claim&, const std::string& what_is_missing);
ClaimCheck verdict_of(const Claim&, bool holds, double obtained, std::string reason);
double mean_of(const std::vector<double>& values);

/// Of one case of a claim. spans: the margin lies within the interval. untold: on the side of which
/// nothing is known.
enum class Outcome { fails, spans, holds, untold };

/// How a case speaks for a claim. The smallest one decides: what fails counts before what is open,
/// and that before what holds, however wide their intervals are.
struct Standing {
    Outcome outcome = Outcome::holds;
    double favour = 0;  ///< among equal outcomes
};
inline bool operator<(const Standing& one, const Standing& other) {
    return one.outcome != other.outcome ? one.outcome < other.outcome : one.favour < other.favour;
}

/// Of an interval that must not reach above `most`; the higher, the less favourable.
Standing standing_at_most(const statistics::MeanInterval&, double most);

/// Whether an observation is of the selector's variant, axes and labels.
bool selects(const Selector&, const Observation&);

}  // namespace assay::claims
