#include "suite/cli/replay_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "suite/cli/terminal.hpp"
#include "suite/report/report.hpp"

namespace assay::cli {

Comparison compare(const Experiment& experiment, const store::Sample& stored,
                   const store::Sample& replayed) {
    std::map<std::string, ComparedMetric> metrics;
    const auto add = [&](const store::Sample& sample, std::optional<double> ComparedMetric::*side) {
        // A metric recorded twice under one key counts with its last value on both sides.
        for (const store::MetricValue& value : sample.metrics) {
            const std::string key = metric_key(value.name, value.labels);
            ComparedMetric& metric = metrics[key];
            metric.key = key;
            const MetricSpec* declared = experiment.metric(value.name);
            metric.deterministic = declared != nullptr && declared->deterministic;
            metric.*side = value.value;
        }
    };
    add(stored, &ComparedMetric::stored);
    add(replayed, &ComparedMetric::replayed);
    Comparison comparison;
    for (auto& [key, metric] : metrics) comparison.metrics.push_back(std::move(metric));
    comparison.stored_status = stored.status;
    comparison.replayed_status = replayed.status;
    comparison.replayed_reason = replayed.reason;
    return comparison;
}

long Comparison::deterministic() const {
    return std::count_if(metrics.begin(), metrics.end(),
                         [](const ComparedMetric& metric) { return metric.deterministic; });
}

long Comparison::disagreeing() const {
    return std::count_if(metrics.begin(), metrics.end(), [](const ComparedMetric& metric) {
        return metric.deterministic && !metric.equal();
    });
}

nlohmann::json to_json(const Comparison& comparison, const std::string& id) {
    const auto value = [](std::optional<double> number) {
        return number ? nlohmann::json(*number) : nlohmann::json();
    };
    nlohmann::json metrics = nlohmann::json::array();
    for (const ComparedMetric& metric : comparison.metrics)
        metrics.push_back({{"metric", metric.key},
                           {"deterministic", metric.deterministic},
                           {"stored", value(metric.stored)},
                           {"replayed", value(metric.replayed)},
                           {"equal", metric.equal()}});
    return {{"id", id},
            {"agrees", comparison.agrees()},
            {"deterministic", comparison.deterministic()},
            {"same_data",
             comparison.same_data ? nlohmann::json(*comparison.same_data) : nlohmann::json()},
            {"status",
             {{"stored", comparison.stored_status}, {"replayed", comparison.replayed_status}}},
            {"reason", comparison.replayed_reason},
            {"metrics", metrics}};
}

std::string to_text(const Comparison& comparison) {
    // Equal deterministic metrics can be hundreds; they are counted, the rest is shown.
    report::Grid grid{{"metric", "stored", "replayed", "difference", "must be equal"}};
    long equal = 0;
    for (const ComparedMetric& metric : comparison.metrics) {
        if (metric.deterministic && metric.equal()) {
            ++equal;
            continue;
        }
        const auto number = [](std::optional<double> value) {
            return value ? report::number(*value) : std::string("-");
        };
        std::string difference;
        if (metric.stored && metric.replayed && *metric.stored != 0)
            difference = fmt::format("{:+.2g} %", (*metric.replayed / *metric.stored - 1) * 100);
        grid.push_back({metric.key, number(metric.stored), number(metric.replayed), difference,
                        metric.deterministic ? "yes" : "no"});
    }
    std::string text = grid.size() > 1 ? report::text_table(grid, text_columns()) : "";
    if (!comparison.same_status())
        text += fmt::format(
            "the stored sample was {}, the replay is {}{}\n", comparison.stored_status,
            comparison.replayed_status,
            comparison.replayed_reason.empty() ? "" : ": " + comparison.replayed_reason);
    if (!comparison.same_data.value_or(true))
        text += "the files that the sample reads have other content now than they had then\n";
    if (comparison.deterministic() == 0)
        text += "no deterministic metric to compare\n";
    else
        text += fmt::format("{} of {} deterministic metrics agree to the last bit\n", equal,
                            comparison.deterministic());
    return text;
}

}  // namespace assay::cli
