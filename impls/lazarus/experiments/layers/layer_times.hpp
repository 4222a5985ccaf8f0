// What a forward pass of Fig. 10a's layer takes, and two of them compared.
#pragma once

#include <functional>
#include <span>

#include "impls/lazarus/experiments/layers/skewed_layer.hpp"

namespace assay::lazarus {

struct PhaseTimes {
    double dispatch = 0, experts = 0, combine = 0;
    double layer() const { return dispatch + experts + combine; }
};
/// Each phase of the rank that takes longest in it.
PhaseTimes slowest_of(std::span<const PhaseTimes> ranks);

/// Runs both in turns, after one of each to warm up, so that what disturbs the machine disturbs
/// both, and records what is measured of LayerFound. `rows`: of the second.
void compare_layers(const std::function<PhaseTimes()>& at_1_to_1,
                    const std::function<PhaseTimes()>& at_ratio, double rows, Recorder& recorder);

}  // namespace assay::lazarus
