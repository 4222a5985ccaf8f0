// Intervals for a median that may be looked at after every new value.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace assay::stopping {

/// A confidence sequence: with probability `level` the median of the distribution lies within the
/// interval of every number of values at once, however often one looks and whenever one stops. An
/// ordinary 95 % interval looked at after each of 30 values misses at one look or another in some
/// 14 % of all cases (tests/measure/stopping_test.cpp measures it).
///
/// How. The interval of n values reaches from the m-th lowest of them to the m-th highest (order
/// statistics, as in statistics::order_statistics_interval). It lies beside the median when fewer
/// than m values are on one side of it, and how many are on one side is a fair random walk,
/// whatever the distribution, if only it is continuous and the values are independent. So the
/// probability to leave the boundary m(1), m(2), … for the first time at n is known exactly, by
/// recursion over n, and m(n) is the largest for which all of them up to n sum to at most
/// (1 - level) / 2 * (1 - 4 / n) on either side: Lan and DeMets' alpha spending (Biometrika 70,
/// 1983) on the sign test. The share 1 - 4 / n does not depend on how many values there will be at
/// most, so that what was decided stays decided when a run is prolonged, and was chosen among four
/// for being early: at 95 %, seven values on one side of the margin decide. What that costs: 20
/// values leave out 3 at either end, where a single look would leave out 5.
class MedianSequence {
  public:
    /// `level` within (0, 1), `largest` >= 1: the most values that will be asked for.
    /// std::invalid_argument otherwise.
    MedianSequence(double level, int largest);

    /// How many values the interval of n leaves out at either end; nullopt: no interval yet.
    std::optional<int> left_out(int n) const;
    /// Fewest values with an interval; nullopt: not among `largest`.
    std::optional<int> smallest() const;
    /// Exact probability, at most, that any of the intervals up to `largest` misses the median.
    double error() const { return 2 * spent_; }

  private:
    std::vector<int> left_out_;  ///< of n = 1 …; -1: none
    double spent_ = 0;           ///< on either side
};

}  // namespace assay::stopping
