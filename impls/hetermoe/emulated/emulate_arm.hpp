// One emulated sample of a figure on the paper's GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/hetermoe/simulated/arm_found.hpp"

namespace assay::hetermoe {

inline constexpr std::string_view emulation_says =
    " Emulated: a process for each GPU; they train a small model of as many layers and experts, "
    "exchange its rows in the planned order, forward and backward, and hold every task for as long "
    "as the modelled GPU takes, so that a step takes some seconds; an equal part of the cluster "
    "with as many of its experts (axis part). Order and lengths are the simulation's own: that "
    "both "
    "agree shows that messages arrive when its timeline has them arrive, not that a GPU takes so "
    "long; expert parallelism exchanges whole rows for as long as its pieces leave it waiting. The "
    "other arms are simulated only.";

/// Of emulated samples.
std::vector<MetricSpec> emulation_metrics();

/// Why there are no processes for the arm, or none here; nothing: there are.
std::optional<std::string> emulation_lacks(Arm arm);

struct EmulatedSample {
    Point point;
    Arm arm{};
    ArmResult simulated;  ///< run_arm() of both
    std::uint64_t seed = 1;
};

/// Runs it and records ArmFound and emulation_metrics(). Throws what run_paced() and, after all is
/// recorded, require_punctual() throw.
void emulate_arm(const EmulatedSample& sample, Recorder& recorder);

}  // namespace assay::hetermoe
