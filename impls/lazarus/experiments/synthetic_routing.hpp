// A stand-in for a published routing trace: seeded loads with the same skew, made by us.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Tokens per expert of `layers` layers with 32 experts each, at a training step. The expected
/// share of the i hottest experts is 1 - 0.6·exp(-0.225·i): 90.1 %, 96.0 % and 98.4 % for 8, 12 and
/// 16 experts, where the SmartMoE trace has 90.1, 96.0 and 98.3 % at iteration 2001. Which experts
/// are hot, and how far a layer strays from the expectation (a factor between 0.5 and 2 per
/// expert), is drawn from the seed, the layer and the step. Every expert has at least one token; a
/// layer has about 262,144.
std::vector<Loads> synthetic_routing(std::uint64_t seed, std::int64_t step, int layers);

}  // namespace assay::lazarus
