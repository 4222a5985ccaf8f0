#include "suite/experiment/metrics.hpp"

namespace assay {

Metric Metrics::metric(MetricSpec spec) {
    specs_.push_back(std::move(spec));
    return {this, specs_.size() - 1};
}

Metric Metrics::exact(std::string name, std::string unit, std::string says, Direction better,
                      std::vector<std::string> labels) {
    return metric(
        {std::move(name), std::move(unit), std::move(says), better, true, std::move(labels)});
}

Metric Metrics::varying(std::string name, std::string unit, std::string says, Direction better,
                        std::vector<std::string> labels) {
    return metric(
        {std::move(name), std::move(unit), std::move(says), better, false, std::move(labels)});
}

Metric Metrics::exact_unless(std::vector<Provenance> varies, std::string name, std::string unit,
                             std::string says, Direction better) {
    return metric({.name = std::move(name),
                   .unit = std::move(unit),
                   .says = std::move(says),
                   .better = better,
                   .deterministic = true,
                   .varies = std::move(varies)});
}

}  // namespace assay
