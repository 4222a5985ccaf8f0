// The values of some metrics by round, and the ratios of two arms of equal rounds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/store/history.hpp"

namespace assay::runner {

/// What a contrast is about: metrics of one experiment, each with every set of labels by itself.
class ArmRounds {
  public:
    /// Notes the values of `metrics` in the sample; those of a sample that is not ok do not count.
    void add(const store::Sample& sample, const std::vector<std::string>& metrics);

    /// Metric → value, by round.
    const std::map<int, std::map<store::MetricKey, double>>& values() const { return values_; }

  private:
    std::map<int, std::map<store::MetricKey, double>> values_;
};

/// b / a per metric, of the rounds below `end` that both have, in order of rounds. A metric that
/// only one of them ever has is not there.
std::map<store::MetricKey, std::vector<double>> paired_ratios(const ArmRounds& a,
                                                              const ArmRounds& b, int end);

}  // namespace assay::runner
