#include "suite/runner/paired_rounds.hpp"

#include <algorithm>

#include "suite/measure/stopping/stopping.hpp"

namespace assay::runner {

void ArmRounds::add(const store::Sample& sample, const std::vector<std::string>& metrics) {
    if (sample.status != to_string(SampleStatus::ok)) return;
    for (const store::MetricValue& metric : sample.metrics)
        if (std::find(metrics.begin(), metrics.end(), metric.name) != metrics.end())
            values_[sample.spec.round][{metric.name, metric.labels}] = metric.value;
}

std::map<store::MetricKey, std::vector<double>> paired_ratios(const ArmRounds& a,
                                                              const ArmRounds& b, int end) {
    std::map<store::MetricKey, std::vector<double>> ratios;
    for (const auto& [round, of_a] : a.values()) {
        const auto of_b = b.values().find(round);
        if (round >= end || of_b == b.values().end()) continue;
        for (const auto& [metric, value] : of_a)
            if (const auto other = of_b->second.find(metric); other != of_b->second.end())
                ratios[metric].push_back(stopping::pair_ratio(value, other->second));
    }
    return ratios;
}

}  // namespace assay::runner
