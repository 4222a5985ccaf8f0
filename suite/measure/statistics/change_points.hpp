// Change points of a noisy history: E-divisive means with Student's t-test instead of
// permutations, in a sliding window that splits and merges, as in Hunter (DataStax, ICPE 2023) and
// its successor Apache Otava.
#pragma once

#include <span>
#include <vector>

namespace assay::statistics {

struct ChangePointOptions {
    int window = 50;             ///< points looked at together
    double p = 0.001;            ///< a split counts when its t-test gives less
    double first_pass = 10;      ///< times p: what candidates of the first pass may have
    double min_magnitude = 0.0;  ///< |relative change of the mean| below which a point is dropped
};

struct ChangePoint {
    int index = 0;                 ///< first point of the new regime
    double before = 0, after = 0;  ///< means of the neighbouring segments
    double p = 1;
    double relative_change() const { return after / before - 1; }
};

/// In order of time. std::invalid_argument: NaN, impossible options.
std::vector<ChangePoint> change_points(std::span<const double> history,
                                       const ChangePointOptions& = {});

}  // namespace assay::statistics
