#include "suite/experiment/series.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

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

std::vector<std::vector<std::size_t>> comparable_sets(std::span<const Origin* const> origins) {
    using State = std::pair<std::string_view, std::string_view>;
    std::map<std::string_view, std::map<State, std::vector<std::size_t>>> machines;
    for (std::size_t i = 0; i < origins.size(); ++i)
        machines[origins[i]->hardware][{origins[i]->calibration, origins[i]->data}].push_back(i);
    std::vector<std::vector<std::size_t>> sets;
    for (auto& [hardware, states] : machines) {
        std::vector<std::size_t> all;
        for (const auto& [state, indexes] : states)
            all.insert(all.end(), indexes.begin(), indexes.end());
        std::sort(all.begin(), all.end());
        const std::string& session = origins[all.front()]->session;
        const bool one_session =
            !session.empty() && std::all_of(all.begin(), all.end(), [&](std::size_t i) {
                return origins[i]->session == session;
            });
        if (one_session || states.size() == 1)
            sets.push_back(std::move(all));
        else
            for (auto& [state, indexes] : states) sets.push_back(std::move(indexes));
    }
    return sets;
}

std::string_view short_hash(std::string_view hash) { return hash.substr(0, 8); }

}  // namespace assay
