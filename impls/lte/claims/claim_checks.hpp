// Checks of LTE's claims that a single number compared with another does not answer.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "suite/claim/claim.hpp"
#include "suite/claim/paired_seed_checks.hpp"

namespace assay::lte {

/// By the name after "custom:" in the claims file. Each reads "not run" while a point is missing
/// that it needs, else "supported" or "contradicted"; a claim with a `discrepancy` then reads "open
/// discrepancy". Verdicts on better, worse and alike rest on 95 % intervals over seeds, of which
/// there must be two, and read "open discrepancy" where the interval spans the margin: those at
/// equal sparsity or latency on that of the mean logarithm of the ratio, clearly_greater, falls_…,
/// rises_… and freer_patterns_better on that of the difference, paired over seeds; the others on
/// that of the mean.
///   better_at_equal_sparsity     `of` has less perplexity than `over` at equal measured sparsity
///   better_at_equal_latency      the same at an equal share of the dense latency saved
///   alike_at_equal_sparsity      neither differs by more than the claim's relative tolerance
///   no_better_at_equal_sparsity  `of` has no less perplexity than `over`, beyond the tolerance
///   clearly_greater              seed by seed, `of` is more than the claim's value (1) times
///   `over` clearly_at_most, _at_least   `of` is at most, at least the claim's value
///   latency_nearly_linear        `of`'s share of the dense latency lies near a line over sparsity
///   mostly_slower                `of`'s speedup is below 1 at more than half of the sparsities
///   grows_sublinearly            the largest batch activates at most the claim's value (1) times
///                                what it would if experts were independent and equally often
///                                active
///   falls_with_sparsity, falls_with_layer, rises_with_eta
///                                `of` does so at every step along that axis or label
///   freer_patterns_better        Wanda: 4:8 is lower than 2:4, and unstructured than 4:8
///   layers_differ                sparsity differs more between layers than between seeds
std::map<std::string, CustomCheck, std::less<>> claim_checks();

// The checks themselves, and what they share.
ClaimCheck better_at_equal_sparsity(const Claim&, std::span<const Observation>);
ClaimCheck alike_at_equal_sparsity(const Claim&, std::span<const Observation>);
ClaimCheck no_better_at_equal_sparsity(const Claim&, std::span<const Observation>);
ClaimCheck better_at_equal_latency(const Claim&, std::span<const Observation>);
ClaimCheck latency_nearly_linear(const Claim&, std::span<const Observation>);
ClaimCheck mostly_slower(const Claim&, std::span<const Observation>);
ClaimCheck grows_sublinearly(const Claim&, std::span<const Observation>);
ClaimCheck falls_with_sparsity(const Claim&, std::span<const Observation>);
ClaimCheck falls_with_layer(const Claim&, std::span<const Observation>);
ClaimCheck rises_with_eta(const Claim&, std::span<const Observation>);
ClaimCheck freer_patterns_better(const Claim&, std::span<const Observation>);
ClaimCheck layers_differ(const Claim&, std::span<const Observation>);

using claims::clearly_at_least, claims::clearly_at_most, claims::clearly_greater;
using claims::mean_of, claims::not_run_yet, claims::selects, claims::verdict_of;
using claims::Outcome, claims::Standing, claims::standing_at_most;

// Two methods compared at equal measured sparsity, though neither was measured at the other's: what
// a method reaches is rarely what it was asked for.

/// One measurement of a method.
struct QualityPoint {
    double sparsity = 0;  ///< counted, not asked for
    double loss = 0;      ///< natural logarithm of the perplexity
};

/// What is known about a method's loss where it was not measured; infinite on a side of which
/// nothing is known.
struct LossBounds {
    double low = 0, high = 0;
};

/// Sparsities this close count as equal (our choice): one expert of a layer of fifty.
inline constexpr double equal_sparsity = 0.02;

/// Of the method measured at `points` (any order, at least one). Between two points the loss is
/// interpolated linearly; loss curves bend upwards, so that this rather overstates it. Beyond the
/// last point the loss is at least that point's, before the first at most that one's, taking for
/// granted only that leaving more out does not help.
LossBounds loss_at(std::vector<QualityPoint> points, double sparsity);

}  // namespace assay::lte
