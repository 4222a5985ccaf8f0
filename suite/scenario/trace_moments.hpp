// A trace as moments: what is lost and what arrives at one time, without nodes that come and go
// within it. Losses take effect before arrivals, as in fault plans.
#pragma once

#include <string>
#include <vector>

#include "suite/scenario/availability_trace.hpp"

namespace assay {

struct TraceMoment {
    double t_s = 0;
    std::vector<std::string> lost, added;  ///< names, in the order of the events
};

/// Ascending in time; the first is time 0, even when nothing happens then. Throws UserError for a
/// trace whose times descend, or that adds a node that is there or removes one that is not.
std::vector<TraceMoment> moments(const AvailabilityTrace& trace);

}  // namespace assay
