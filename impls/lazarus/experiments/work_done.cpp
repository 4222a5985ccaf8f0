#include "impls/lazarus/experiments/work_done.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace assay::lazarus {
namespace {

constexpr double bin_s = 60;

// `amount` per second, spread evenly over [from, to), added to the bins.
void spread_over(std::vector<double>& bins, double from, double to, double amount) {
    for (double at = from; at < to;) {
        const auto bin = std::min(bins.size() - 1, std::size_t(at / bin_s));
        const double until = bin + 1 == bins.size() ? to : std::min(to, double(bin + 1) * bin_s);
        bins[bin] += amount * (until - at) / bin_s;
        at = until;
    }
}

}  // namespace

std::vector<StepRecord> kept_steps(const SessionResult& result, double duration_s) {
    std::map<Step, StepRecord> last;
    for (const auto& step : result.steps) last[step.step] = step;
    // What the newest restart undid and nobody made again is not in the lineage.
    last.erase(last.lower_bound(static_cast<Step>(result.lineage.size())), last.end());
    std::vector<StepRecord> kept;
    for (const auto& [number, step] : last)
        if (step.end_s <= duration_s) kept.push_back(step);
    return kept;
}

RateCurve rate_of(const std::vector<StepRecord>& steps, double samples_per_worker,
                  double duration_s) {
    const auto bins = std::size_t(std::ceil(duration_s / bin_s));
    RateCurve curve{std::vector<double>(bins), std::vector<double>(bins, 0)};
    for (std::size_t i = 0; i < bins; ++i) curve.t_s[i] = (double(i) + 0.5) * bin_s;
    for (const auto& step : steps)
        if (step.end_s <= duration_s && step.end_s > step.start_s)
            spread_over(curve.samples, step.start_s, step.end_s,
                        step.workers * samples_per_worker / (step.end_s - step.start_s));
    return curve;
}

double mean_workers(const std::vector<StepRecord>& steps, double duration_s) {
    double sum = 0, time = 0;
    for (const auto& step : steps) {
        if (step.end_s > duration_s) continue;
        sum += step.workers * (step.end_s - step.start_s);
        time += step.end_s - step.start_s;
    }
    return time > 0 ? sum / time : 0;
}

}  // namespace assay::lazarus
