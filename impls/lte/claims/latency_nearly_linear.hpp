// The one check of LTE's claims that data does not say.
#pragma once

#include <span>

#include "suite/claim/claim.hpp"

namespace assay::lte {

/// Over sparsity `of`'s share of the dense latency, the inverse of its speedup, falls, and lies
/// nowhere further from a straight line (least squares) than the claim's absolute tolerance (0.05
/// unless it has one). Each seed has a line of its own; the verdict rests on the 95 % interval of
/// the furthest point's distance over seeds, of which three are wanted. Obtained: its mean, in
/// shares of the dense latency. not run: a case has fewer than four sparsities, or no seed has all.
ClaimCheck latency_nearly_linear(const Claim&, std::span<const Observation>);

}  // namespace assay::lte
