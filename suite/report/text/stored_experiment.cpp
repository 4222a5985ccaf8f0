#include "suite/report/text/stored_experiment.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "suite/report/text/row_name.hpp"

namespace assay::report {
namespace {

bool is_selected(const std::string& pattern, const std::string& id) {
    RowId row;
    row.experiment = id;
    const auto matches = [&](const std::string& name) {
        return pattern == name || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    };
    const auto benchmark = imported_benchmark(row);
    return matches(id) || (benchmark && matches(*benchmark));
}

template <class T>
void add_once(std::vector<T>& all, const T& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

void add_axis_values(Experiment& experiment, const Case& axes) {
    for (const auto& [name, value] : axes) {
        auto axis = std::find_if(experiment.axes.begin(), experiment.axes.end(),
                                 [&](const Axis& known) { return known.name == name; });
        if (axis == experiment.axes.end())
            axis = experiment.axes.insert(axis, {.name = name, .says = "", .values = {}});
        add_once(axis->values, value);
    }
}

void add_profile(Experiment& experiment, const store::SeriesKey& series) {
    for (ProfilePlan& plan : experiment.profiles)
        if (plan.profile == series.profile) return add_once(plan.provenances, series.provenance);
    ProfilePlan& plan = experiment.profiles.emplace_back();
    plan.profile = series.profile;
    plan.provenances = {series.provenance};
}

/// Times come first, then what has a direction.
int place_in_figure(const MetricSpec& metric) {
    if (metric.name == "real_time") return 0;
    return metric.better == Direction::none ? 2 : 1;
}

}  // namespace

Experiment with_stored_metrics(const Experiment* declared, const store::Store& store,
                               const std::string& id) {
    Experiment experiment = declared ? *declared : Experiment{};
    experiment.id = id;
    for (const store::MetricUnit& unit : store.metric_units(id))
        if (!experiment.metric(unit.name))
            experiment.metrics.push_back(
                {.name = unit.name, .unit = unit.unit, .says = "", .better = unit.better});
    return experiment;
}

Experiment stored_experiment(const store::Store& store, const std::string& id) {
    Experiment experiment = with_stored_metrics(nullptr, store, id);
    RowId row;
    row.experiment = id;
    const auto benchmark = imported_benchmark(row);
    experiment.title = benchmark.value_or(id);
    experiment.source = benchmark ? "a benchmark tool" : "another program";
    experiment.says =
        "Known from the samples in the database alone, which an import brought; this "
        "program cannot run it.";
    for (const store::SeriesKey& series : store.series_of(id)) {
        add_once(experiment.variants, series.variant);
        add_axis_values(experiment, series.axes);
        add_profile(experiment, series);
        for (const store::MetricKey& metric : store.metrics_of(series)) {
            if (!experiment.metric(metric.name))
                experiment.metrics.push_back({.name = metric.name});
            for (MetricSpec& known : experiment.metrics)
                if (known.name == metric.name)
                    for (const auto& [label, value] : metric.labels) add_once(known.labels, label);
        }
    }
    experiment.figure = {.kind = Figure::Kind::bars, .x = "variant"};
    const auto shown = std::min_element(experiment.metrics.begin(), experiment.metrics.end(),
                                        [](const MetricSpec& one, const MetricSpec& other) {
                                            return place_in_figure(one) < place_in_figure(other);
                                        });
    if (shown != experiment.metrics.end()) {
        experiment.figure.metric = shown->name;
        experiment.figure.y_title = shown->unit;
    }
    return experiment;
}

void SelectedExperiments::add(const Registry& registry, const store::Store* store,
                              const std::string& pattern) {
    std::vector<std::string> stored;
    if (store && pattern != "all" && pattern != "*")
        for (const std::string& id : store->experiments())
            if (!registry.experiment(id) && is_selected(pattern, id)) stored.push_back(id);
    try {
        for (const Experiment* experiment : registry.select(pattern)) add_once(all_, experiment);
    } catch (const UnknownExperiment&) {
        if (stored.empty()) throw;
    }
    for (const std::string& id : stored)
        if (!find(id)) all_.push_back(&stored_.emplace_back(stored_experiment(*store, id)));
}

const Experiment* SelectedExperiments::find(std::string_view id) const {
    for (const Experiment* experiment : all_)
        if (experiment->id == id) return experiment;
    return nullptr;
}

}  // namespace assay::report
