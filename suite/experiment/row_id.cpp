#include "suite/experiment/row_id.hpp"

#include <nlohmann/json.hpp>

namespace assay {

RowId RowId::series() const {
    RowId id = *this;
    id.metric.clear();
    id.labels.clear();
    return id;
}

RowId RowId::without_context() const {
    RowId id = *this;
    id.profile.reset();
    id.provenance.reset();
    id.scenario.clear();
    return id;
}

std::string RowId::series_text() const {
    std::string all;
    for (const std::string& part : {experiment, variant, assay::to_string(axes)}) {
        if (part.empty()) continue;
        if (!all.empty()) all += ' ';
        all += part;
    }
    return all;
}

std::string RowId::metric_text() const { return assay::metric_text(metric, labels); }

std::string RowId::text() const {
    return metric.empty() ? series_text() : series_text() + ' ' + metric_text();
}

RowId series_of(const SampleSpec& spec) {
    return {.experiment = spec.experiment,
            .variant = spec.variant,
            .axes = spec.axes,
            .metric = {},
            .labels = {},
            .profile = spec.profile,
            .provenance = spec.provenance,
            .scenario = spec.scenario};
}

std::string metric_text(std::string_view metric, const Labels& labels) {
    std::string text(metric);
    if (!labels.empty()) text += ' ' + to_string(labels);
    return text;
}

nlohmann::json to_json(const RowId& id) {
    const auto named = [](const auto& value) {
        return value ? nlohmann::json(to_string(*value)) : nlohmann::json();
    };
    return {{"experiment", id.experiment},
            {"variant", id.variant},
            {"axes", to_json(id.axes)},
            {"profile", named(id.profile)},
            {"provenance", named(id.provenance)},
            {"scenario", id.scenario},
            {"metric", id.metric},
            {"labels", to_json(id.labels)}};
}

}  // namespace assay
