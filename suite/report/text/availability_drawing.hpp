// A node count over time, in block characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "suite/scenario/traces/availability_trace.hpp"

namespace assay::report {

struct CountCurve {
    struct Loss {
        double t_s = 0;
        int nodes = 0;
    };
    double duration_s = 0;
    std::vector<double> t_s;  ///< ascending, the first is 0: from t_s[i] on …
    std::vector<int> alive;   ///< … there are alive[i]
    std::vector<Loss> losses;
};
CountCurve curve_of(const AvailabilityTrace& trace);
CountCurve curve_of(const MappedTrace& mapped, double duration_s);

/// `width` columns wide (at least 30), each as high as the fewest nodes in its time; below them how
/// many are lost ('+': ten or more) and an axis in seconds, minutes or hours.
std::string draw_counts(const CountCurve& curve, std::size_t width);

}  // namespace assay::report
