#include "suite/runner/adaptive/precise_cases.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "suite/runner/plan.hpp"

namespace assay::runner {

namespace {

int experiments_in(const Plan& plan) {
    std::set<const Experiment*> experiments;
    for (const PlannedSample& planned : plan.samples) experiments.insert(planned.experiment);
    return static_cast<int>(experiments.size());
}

}  // namespace

PreciseCases::PreciseCases(const Plan& plan, const PrecisionOptions& options)
    : CaseRounds(plan, options.budget_s * experiments_in(plan),
                 [](const Experiment& experiment) {
                     return std::vector<std::string>{experiment.figure.metric};
                 }),
      options_(options) {}

bool PreciseCases::enough(const CaseSoFar& of, int rounds, double seconds_left) const {
    const int fewest = of.experiment->plan(of.profile)->rounds;
    if (rounds < fewest || of.planned <= fewest) return false;
    if (seconds_left <= 0) return true;
    return std::all_of(of.variants.begin(), of.variants.end(), [&](const std::string& variant) {
        std::map<store::MetricKey, std::vector<double>> series;
        for (const auto& [round, metrics] : of.arm(variant).values())
            for (const auto& [metric, value] : metrics) series[metric].push_back(value);
        return std::all_of(series.begin(), series.end(), [&](const auto& each) {
            // The ratio of two runs is off 1 by about as much as its interval is wide to either
            // side.
            return is_precise(each.second, options_.share / 2);
        });
    });
}

}  // namespace assay::runner
