// One arm against another as adaptive rounds see it: what is asked for, the values by round, and
// what has come out.
#pragma once

#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/measure/statistics/stopping.hpp"
#include "suite/store/history.hpp"

namespace assay::runner {

/// The values of some metrics of one experiment by round, each with every set of labels by itself.
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

struct DecisionOptions {
    double margin = 0.01;  ///< relative; what is smaller does not matter
    double level = 0.95;
    int min_rounds = 5;
    int max_rounds = 30;
    /// Seconds of samples, all cases together; what one leaves over is shared by those after it.
    double budget_s = std::numeric_limits<double>::infinity();
    std::string against;               ///< variant; empty: the first of those that run
    std::vector<std::string> metrics;  ///< decided upon; empty: the figure's metric
    std::set<store::MetricKey> only;   ///< of these; empty: all
    /// Of metrics that the experiment does not declare by name.
    std::map<std::string, Direction> better;
};

/// The metrics that decide. Throws UserError: the experiment does not have one that is asked for.
std::vector<std::string> deciding_metrics(const Experiment&, const DecisionOptions&);
/// The stopping rule that the options ask for. Throws UserError for options out of range.
stopping::Stopping stopping_rule(const DecisionOptions&);

struct Contrast {
    std::string experiment;
    Case axes;
    std::string variant, against;  ///< of builds: the variant, and what the other build is called
    store::MetricKey metric;
    Direction better = Direction::none;
    double ratio = 0;  ///< median of variant over against; NaN without pairs
    stopping::Answer answer;
    int rounds = 0;  ///< complete ones

    /// "same", "faster" or "slower" (better or worse, whatever the unit), "higher" or "lower" where
    /// neither way is better, "ambiguous".
    std::string_view verdict() const;
};

/// One contrast per metric and set of labels, of the rounds below `rounds`; where there are no
/// pairs, one per metric without any value. The names are taken from `names`.
std::vector<Contrast> contrasts_of(const ArmRounds& against, const ArmRounds& arm, int rounds,
                                   const Experiment&, const DecisionOptions&,
                                   const stopping::Stopping&, const Contrast& names);

/// Whether the rounds of these contrasts go on.
stopping::Stopping::Next next_of(const std::vector<Contrast>&, int rounds, double seconds_left,
                                 const stopping::Stopping&);

/// {"experiment","case","variant","against","metric" (with labels),"ratio","low","high","pairs",
/// "rounds","verdict"}; numbers that are not there are null.
nlohmann::json contrast_json(const Contrast&);

}  // namespace assay::runner
