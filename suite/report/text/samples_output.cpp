#include "suite/report/text/samples_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/encoding.hpp"

namespace assay::report {

std::string csv(const Registry& registry, std::span<const store::Sample> samples,
                std::span<const store::MetricUnit> units) {
    std::map<std::pair<std::string, std::string>, store::MetricUnit> elsewhere;
    for (const store::MetricUnit& unit : units) elsewhere[{unit.experiment, unit.name}] = unit;
    std::set<std::string> axes;
    for (const store::Sample& sample : samples)
        for (const auto& [axis, value] : sample.spec.axes) axes.insert(axis);

    std::vector<std::string> header{"session", "experiment", "variant"};
    header.insert(header.end(), axes.begin(), axes.end());
    for (const char* name : {"profile", "provenance", "scenario", "seed", "round", "status",
                             "metric", "labels", "unit", "value", "sample", "started", "better"})
        header.emplace_back(name);
    std::string out = csv_line(header);

    for (const store::Sample& sample : samples) {
        const SampleSpec& spec = sample.spec;
        const Experiment* experiment = registry.experiment(spec.experiment);
        std::vector<std::string> start{sample.session, spec.experiment, spec.variant};
        for (const std::string& axis : axes) {
            const auto found = spec.axes.find(axis);
            start.push_back(found == spec.axes.end() ? "" : to_string(found->second));
        }
        for (const std::string& field :
             {std::string(to_string(spec.profile)), std::string(to_string(spec.provenance)),
              spec.scenario, std::to_string(spec.seed), std::to_string(spec.round), sample.status})
            start.push_back(field);
        const auto row = [&](const std::string& metric, const std::string& labels,
                             const std::string& unit, const std::string& value, Direction better) {
            std::vector<std::string> fields = start;
            fields.insert(
                fields.end(),
                {metric, labels, unit, value, sample.id, sample.started,
                 better == Direction::none ? std::string() : std::string(to_string(better))});
            out += csv_line(fields);
        };
        for (const store::MetricValue& metric : sample.metrics) {
            const MetricSpec* declared = experiment ? experiment->metric(metric.name) : nullptr;
            const store::MetricUnit& known = elsewhere[{spec.experiment, metric.name}];
            row(metric.name, to_string(metric.labels), declared ? declared->unit : known.unit,
                fmt::format("{}", metric.value), declared ? declared->better : known.better);
        }
        if (sample.metrics.empty()) row("", "", "", "", Direction::none);
    }
    return out;
}

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
