#include "suite/runner/adaptive/precision.hpp"

#include <algorithm>
#include <cmath>

#include "suite/measure/statistics/ratio.hpp"

namespace assay::runner {

bool gains_by_rounds(const Experiment& experiment, const ProfilePlan& profile,
                     Provenance provenance) {
    const MetricSpec* metric = experiment.metric(experiment.figure.metric);
    return provenance == Provenance::measured && !profile.side_by_side && metric &&
           !metric->is_deterministic(provenance);
}

int most_rounds(const ProfilePlan& profile, Provenance provenance, std::size_t samples,
                const PrecisionOptions& options) {
    const double round_s = profile.seconds(provenance) * static_cast<double>(samples);
    const double in_time = std::min(options.budget_s / std::max(round_s, 1e-9),
                                    static_cast<double>(options.max_rounds));
    return std::max(profile.rounds, static_cast<int>(in_time));
}

bool is_precise(const std::vector<double>& values, double share) {
    if (values.size() < static_cast<std::size_t>(statistics::smallest_n_for_interval)) return false;
    if (std::any_of(values.begin(), values.end(),
                    [](double value) { return !std::isfinite(value) || value <= 0; }))
        return false;
    std::vector<double> next = values;
    std::rotate(next.begin(), next.begin() + 1, next.end());
    const statistics::Interval interval = statistics::paired_ratio(values, next).interval;
    return interval.high <= 1 + share && interval.low >= 1 / (1 + share);
}

}  // namespace assay::runner
