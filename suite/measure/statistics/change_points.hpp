// Change points of a noisy history: E-divisive means with Student's t-test instead of
// permutations, in a sliding window that splits and merges, as in Hunter (DataStax, ICPE 2023) and
// its successor Apache Otava 0.8.0. Two departures from the latter make false alarms rarer: the
// t-test takes the variance of a sample, not of a population, and when a point is dropped, the
// points on both of its sides are tested anew (Otava keeps an outdated p-value for the earlier).
//
// p is not the rate of false alarms of a whole history, since each place was chosen before it was
// tested. Of 2000 histories of 100 independent normal values, 3.3 % got a point at p = 0.001, 0.8 %
// with min_magnitude at twice their standard deviation (tests/statistics/change_points_test.cpp).
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

/// In order of time. Equal values never change, however many there are; constants that differ do,
/// with p = 0. std::invalid_argument: a value that is not finite, impossible options.
std::vector<ChangePoint> change_points(std::span<const double> history,
                                       const ChangePointOptions& = {});

}  // namespace assay::statistics
