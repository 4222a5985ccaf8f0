// The interval of a mean of few values that lie about as a normal distribution's do: what differs
// between seeds of one training, where five values for an interval of the median are hours.
#pragma once

#include <optional>
#include <span>

namespace assay::statistics {

struct MeanInterval {
    double mean = 0;
    double low = 0, high = 0;
};

/// Student's t interval: exact for normal values. nullopt: fewer than two of them.
/// std::invalid_argument: values that are not finite, a level outside (0, 1).
std::optional<MeanInterval> mean_interval(std::span<const double> values, double level = 0.95);

}  // namespace assay::statistics
