#include "suite/experiment/metrics.hpp"

namespace assay {
namespace {

MetricSpec spec_of(std::string_view name, std::string_view unit, std::string_view says,
                   Direction better, bool deterministic,
                   std::initializer_list<std::string_view> labels = {}) {
    return {std::string(name), std::string(unit),
            std::string(says), better,
            deterministic,     {labels.begin(), labels.end()}};
}

}  // namespace

Metric Metrics::metric(MetricSpec spec) {
    specs_.push_back(std::move(spec));
    return {this, specs_.size() - 1};
}

Metric Metrics::exact(std::string_view name, std::string_view unit, std::string_view says,
                      Direction better, Labelled labels) {
    return metric(spec_of(name, unit, says, better, true, labels));
}

Metric Metrics::varying(std::string_view name, std::string_view unit, std::string_view says,
                        Direction better, Labelled labels) {
    return metric(spec_of(name, unit, says, better, false, labels));
}

Metric Metrics::exact_unless(std::vector<Provenance> varies, std::string_view name,
                             std::string_view unit, std::string_view says, Direction better) {
    MetricSpec spec = spec_of(name, unit, says, better, true);
    spec.varies = std::move(varies);
    return metric(std::move(spec));
}

void Metric::record(double value, const Labels& labels) const {
    of_->recorder_->metric(of_->specs_[at_].name, value, labels);
}

}  // namespace assay
