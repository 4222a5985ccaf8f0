// The machine-readable shape of samples that other programs build on: keys may be added, never
// changed.
#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/report/report.hpp"

namespace assay::report {

nlohmann::json samples_json(std::span<const store::Sample> samples) {
    nlohmann::json array = nlohmann::json::array();
    for (const store::Sample& sample : samples) {
        nlohmann::json metrics = nlohmann::json::object();
        for (const store::MetricValue& metric : sample.metrics) {
            nlohmann::json& value = metrics[metric_key(metric.name, metric.labels)];
            if (std::isfinite(metric.value)) value = metric.value;
        }
        nlohmann::json object = {{"id", sample.id},
                                 {"experiment", sample.spec.experiment},
                                 {"variant", sample.spec.variant},
                                 {"case", to_json(sample.spec.axes)},
                                 {"profile", to_string(sample.spec.profile)},
                                 {"provenance", to_string(sample.spec.provenance)},
                                 {"scenario", sample.spec.scenario},
                                 {"seed", sample.spec.seed},
                                 {"status", sample.status},
                                 {"metrics", std::move(metrics)}};
        if (sample.status != "ok") object["reason"] = sample.reason;
        array.push_back(std::move(object));
    }
    return array;
}

}  // namespace assay::report
