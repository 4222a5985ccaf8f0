// Work over time as a curve: amounts that took a while, as rates averaged over equal bins.
#pragma once

#include <vector>

namespace assay {

/// Bins of `bin_s` seconds from 0 to the end of the one that holds `duration_s`. The sum of rates
/// times `bin_s` is what was added.
class RateCurve {
  public:
    /// Both above 0.
    explicit RateCurve(double duration_s, double bin_s = 60);

    /// `amount` was made from `from_s` to `to_s`, evenly; 0 ≤ from_s < to_s. What was made after
    /// the last bin counts in it.
    void add(double from_s, double to_s, double amount);

    const std::vector<double>& t_s() const { return t_s_; }      ///< middle of each bin
    const std::vector<double>& per_s() const { return per_s_; }  ///< average rate in it

  private:
    double bin_s_;
    std::vector<double> t_s_, per_s_;
};

}  // namespace assay
