// Checks of LTE's claims that a single number compared with another does not answer.
#pragma once

#include <map>
#include <span>
#include <string>

#include "suite/experiment/claim.hpp"

namespace assay::lte {

/// By the name after "custom:" in the claims file. Each reads "not run" while a point is missing
/// that it needs, else "supported" or "contradicted"; a claim with a `discrepancy` then reads "open
/// discrepancy".
///   better_at_equal_sparsity     `of` has less perplexity than `over` at equal measured sparsity
///   alike_at_equal_sparsity      neither differs by more than the claim's relative tolerance
///   no_better_at_equal_sparsity  `of` has no less perplexity than `over`, beyond the tolerance
///   latency_nearly_linear        `of`'s share of the dense latency lies near a line over sparsity
///   mostly_slower                `of`'s speedup is below 1 at more than half of the sparsities
///   grows_sublinearly            what a batch activates grows, by less per token the larger it is,
///                                and is less than that of experts that are independent and alike
///   layers_differ                sparsity differs more between layers than between seeds, of which
///                                there must be two
std::map<std::string, CustomCheck, std::less<>> claim_checks();

// The checks themselves, and what they share.
ClaimCheck better_at_equal_sparsity(const Claim&, std::span<const Observation>);
ClaimCheck alike_at_equal_sparsity(const Claim&, std::span<const Observation>);
ClaimCheck no_better_at_equal_sparsity(const Claim&, std::span<const Observation>);
ClaimCheck latency_nearly_linear(const Claim&, std::span<const Observation>);
ClaimCheck mostly_slower(const Claim&, std::span<const Observation>);
ClaimCheck grows_sublinearly(const Claim&, std::span<const Observation>);
ClaimCheck layers_differ(const Claim&, std::span<const Observation>);

ClaimCheck not_run_yet(const Claim&, const std::string& what_is_missing);
ClaimCheck verdict_of(const Claim&, bool holds, double obtained, std::string reason);
/// Whether an observation is of the selector's variant, axes and labels.
bool selects(const Selector&, const Observation&);

}  // namespace assay::lte
