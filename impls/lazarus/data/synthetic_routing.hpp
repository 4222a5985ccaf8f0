// A stand-in for a published routing trace: seeded loads with the same skew, made by us.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Tokens per expert of `layers` layers with 32 experts each, at a training step. The expected
/// share of the i hottest experts is 1 - 0.6·exp(-0.225·i): 90.1 %, 96.0 % and 98.4 % for 8, 12 and
/// 16 experts, where the SmartMoE trace has 90.1, 96.0 and 98.3 % at iteration 2001. Which experts
/// are hot, and how far a layer deviates from the expectation (a factor between 0.5 and 2 per
/// expert), is drawn from the seed, the layer and the step. Every expert has at least one token; a
/// layer has about 262,144.
/// Steps are independent of each other: at another step other experts are hot.
std::vector<Loads> synthetic_routing(std::uint64_t seed, std::int64_t step, int layers);

/// The same skew, but drifting: for experiments that go through many steps. Which experts are hot
/// is drawn once per seed and layer; every 1000 steps each pair of neighbours in that order may
/// swap (probability 1/8) and each expert deviates a little more or less (within the same
/// factors); in between, shares are interpolated. From step 1001 on, 7.5 of a layer's 8 hottest
/// experts are still so 1000 steps later in the SmartMoE trace (mean of its first 12 layers), and
/// half the sum of the shares' differences is 0.058. Throws UserError unless step is in 0 to 1e9.
std::vector<Loads> drifting_routing(std::uint64_t seed, std::int64_t step, int layers);

/// For models with other numbers of experts: an expert's load is exp(skew · z), z normal, one drawn
/// per expert and layer. Every 200 steps z drifts (to 0.99 z + 0.14 of a new one, so that its
/// spread stays); in between nothing changes. With 256 experts the hottest has on average 3.8 times
/// the mean load at skew 0.5, 8 at 0.8. Throws UserError unless step is in 0 to 1e6 and skew in 0
/// to 3.
std::vector<Loads> lognormal_routing(std::uint64_t seed, std::int64_t step, int layers, int experts,
                                     double skew);
inline constexpr std::int64_t steps_of_lognormal_routing = 200;  ///< that are alike

/// drifting_routing() at steps 1, 201, …, 5001 in the form of routing_trace.hpp: 12 layers, seed 1.
/// Shipped as datasets/traces/synthetic-routing.csv.
std::string synthetic_routing_csv();

}  // namespace assay::lazarus
