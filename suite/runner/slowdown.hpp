// A sample that is made slower on purpose, to find out whether a gate would notice. The order
// stands in the scenario and nowhere else, so that the series of such a sample is another than that
// of honest ones: reports, claims and comparisons never take one for the other.
#pragma once

#include <string>
#include <string_view>

#include "suite/runner/runner.hpp"

namespace assay::runner {

/// The largest factor: beyond it a sample runs for less than a tenth of its time.
inline constexpr double largest_slowdown = 10;

/// "slowdown=1.10", after what `scenario` says already; a factor of 1 changes nothing.
/// std::invalid_argument: a factor that is not from 1 to largest_slowdown, a scenario that is
/// slowed already.
std::string slowed_scenario(const std::string& scenario, double factor);

struct Slowdown {
    std::string scenario;  ///< what the experiment is told: without the order
    double factor = 1;     ///< how many times longer the sample takes; 1: not slowed
};
/// Takes slowed_scenario() apart again. A scenario without an order comes back as it is.
Slowdown slowdown_of(std::string_view scenario);

/// All samples of the plan become `factor` times slower; no other session is resumed by it.
void slow_down(Plan& plan, double factor);

}  // namespace assay::runner
