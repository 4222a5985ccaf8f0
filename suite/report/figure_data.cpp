// See figure_data.hpp.
#include "suite/report/figure_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "suite/report/origin_labels.hpp"
#include "suite/report/paper_marks.hpp"

namespace assay::report {
namespace {

double numeric(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::numeric_limits<double>::quiet_NaN();
}

/// "gpt-l", "step 200": words speak for themselves, numbers need their name.
std::string spoken(const std::string& name, const Value& value) {
    return std::holds_alternative<std::string>(value) ? to_string(value)
                                                      : name + " " + to_string(value);
}

std::string joined(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, " · "));
}

struct PanelKey {
    std::vector<OrderedValue> split;
    Profile profile;
    Provenance provenance;
    std::string scenario;
    std::string origin;  // empty where there is but one
    auto operator<=>(const PanelKey&) const = default;
};

struct Cell {
    PanelKey panel;
    OrderedValue x;
    const std::string* variant;
    double value;
};

/// Declared panels first, then other axes, then the metric's other labels.
std::vector<std::string> splitting_names(const Experiment& experiment,
                                         std::span<const store::Sample> samples) {
    const Figure& figure = experiment.figure;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (name != figure.x && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    };
    for (const std::string& name : figure.panels) add(name);
    for (const Axis& axis : experiment.axes) add(axis.name);
    for (const store::Sample& sample : samples) {
        for (const auto& [name, value] : sample.spec.axes) add(name);
        for (const store::MetricValue& metric : sample.metrics)
            if (metric.name == figure.metric)
                for (const auto& [name, value] : metric.labels) add(name);
    }
    return names;
}

const Value* find(const store::Sample& sample, const store::MetricValue& metric,
                  const std::string& name) {
    if (const auto at = metric.labels.find(name); at != metric.labels.end()) return &at->second;
    if (const auto at = sample.spec.axes.find(name); at != sample.spec.axes.end())
        return &at->second;
    return nullptr;
}

std::vector<Cell> collect(const Experiment& experiment, std::span<const store::Sample> samples,
                          const std::vector<std::string>& names, bool x_is_variant) {
    std::vector<Cell> cells;
    const std::vector<OriginLabel> origins = origin_labels(
        samples,
        [&](const store::Sample& sample) { return asked_for(sample, experiment.figure.x); });
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const store::Sample& sample = samples[i];
        if (sample.status != "ok") continue;
        for (const store::MetricValue& metric : sample.metrics) {
            if (metric.name != experiment.figure.metric || !std::isfinite(metric.value)) continue;
            Cell cell{{{},
                       sample.spec.profile,
                       sample.spec.provenance,
                       sample.spec.scenario,
                       origins[i].text()},
                      {},
                      &sample.spec.variant,
                      metric.value};
            for (const std::string& name : names) {
                const Value* value = find(sample, metric, name);
                cell.panel.split.push_back(value ? ordered(experiment, name, *value)
                                                 : OrderedValue{});
            }
            if (x_is_variant) {
                cell.x = {variant_slot(experiment, sample.spec.variant), sample.spec.variant};
            } else {
                const Value* x = find(sample, metric, experiment.figure.x);
                if (!x) continue;
                cell.x = ordered(experiment, experiment.figure.x, *x);
            }
            cells.push_back(std::move(cell));
        }
    }
    return cells;
}

}  // namespace

bool same_number_or_text(const Value& a, const Value& b) {
    const double x = numeric(a), y = numeric(b);
    return std::isnan(x) || std::isnan(y) ? a == b : x == y;
}

std::partial_ordering OrderedValue::operator<=>(const OrderedValue& other) const {
    if (place != other.place) return place <=> other.place;
    const double a = numeric(value), b = numeric(other.value);
    if (!std::isnan(a) && !std::isnan(b)) return a <=> b;
    if (std::isnan(a) != std::isnan(b)) return std::isnan(b) <=> std::isnan(a);
    return to_string(value) <=> to_string(other.value);
}

OrderedValue ordered(const Experiment& experiment, const std::string& name, const Value& value) {
    if (const Axis* axis = experiment.axis(name)) {
        for (std::size_t i = 0; i < axis->values.size(); ++i)
            if (same_number_or_text(axis->values[i], value)) return {i, value};
        return {axis->values.size(), value};
    }
    return {0, value};
}

std::size_t variant_slot(const Experiment& experiment, const std::string& variant) {
    const auto& all = experiment.variants;
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), variant) - all.begin());
}

double median_of_sorted(std::span<const double> sorted) {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

FigureData figure_data(const Experiment& experiment, std::span<const store::Sample> samples,
                       std::span<const Claim> claims) {
    const Figure& figure = experiment.figure;
    FigureData data;
    data.shares_variants = figure.x.empty() || figure.x == "variant";
    const std::vector<std::string> names = splitting_names(experiment, samples);
    const std::vector<Cell> cells = collect(experiment, samples, names, data.shares_variants);

    std::vector<OrderedValue> xs;
    for (const Cell& cell : cells) xs.push_back(cell.x);
    for (const Claim& claim : claims)
        if (is_figure_point(claim, experiment) && !data.shares_variants)
            if (const auto x = claim.of.where.find(figure.x); x != claim.of.where.end())
                xs.push_back(ordered(experiment, figure.x, x->second));
    std::sort(xs.begin(), xs.end(), [](const auto& a, const auto& b) { return a < b; });
    xs.erase(std::unique(xs.begin(), xs.end(),
                         [](const auto& a, const auto& b) {
                             return same_number_or_text(a.value, b.value);
                         }),
             xs.end());
    const bool numbers = std::none_of(
        xs.begin(), xs.end(), [](const OrderedValue& x) { return std::isnan(numeric(x.value)); });
    const bool categorical = !numbers || figure.kind == Figure::Kind::bars;
    if (categorical)
        for (const OrderedValue& x : xs) data.categories.push_back(to_string(x.value));
    const auto place = [&](const Value& x) {
        if (!categorical) return numeric(x);
        const auto at = std::find_if(xs.begin(), xs.end(), [&](const OrderedValue& y) {
            return same_number_or_text(y.value, x);
        });
        return at == xs.end() ? std::numeric_limits<double>::quiet_NaN()
                              : static_cast<double>(at - xs.begin());
    };

    std::map<PanelKey, std::map<std::size_t, FigureSeries>> panels;
    std::map<PanelKey, std::map<std::size_t, std::map<double, std::vector<double>>>> values;
    std::set<std::pair<std::size_t, std::string>> variants;
    std::set<std::string> paper_inputs;
    for (const Cell& cell : cells) {
        const std::size_t slot = variant_slot(experiment, *cell.variant);
        panels[cell.panel][slot].variant = *cell.variant;
        panels[cell.panel][slot].slot = slot;
        values[cell.panel][slot][place(cell.x.value)].push_back(cell.value);
        variants.emplace(slot, *cell.variant);
    }
    for (auto& [key, slots] : values)
        for (auto& [slot, points] : slots)
            for (auto& [x, all] : points) {
                std::sort(all.begin(), all.end());
                panels[key][slot].points.push_back(
                    {x, median_of_sorted(all), all.front(), all.back(), all.size()});
            }
    for (const Claim& claim : claims) {
        if (!is_figure_point(claim, experiment)) continue;
        const std::size_t slot = variant_slot(experiment, claim.of.variant);
        if (slot == experiment.variants.size()) continue;
        double x = place(Value(claim.of.variant));
        if (!data.shares_variants) {
            const auto at = claim.of.where.find(figure.x);
            if (at == claim.of.where.end()) continue;
            x = place(at->second);
        }
        if (std::isnan(x)) continue;
        std::map<PanelKey, PanelMatch> matches;
        PanelMatch::Kind best = PanelMatch::Kind::other_input;
        for (const auto& [key, series] : panels) {
            const PanelMatch& match =
                matches.emplace(key, match_panel(claim, claims, names, key.split, figure.x))
                    .first->second;
            best = std::max(best, match.kind);
        }
        for (auto& [key, series] : panels) {
            const PanelMatch& match = matches.at(key);
            if (match.kind != best) continue;
            series[slot].variant = claim.of.variant;
            series[slot].slot = slot;
            series[slot].paper.push_back({x, *claim.value, claim.id, match.inputs});
            data.has_paper = true;
            paper_inputs.insert(match.inputs);
            variants.emplace(slot, claim.of.variant);
        }
    }
    const bool some_on_ours = paper_inputs.erase("") > 0;
    data.paper_inputs = fmt::format("{}{}", some_on_ours && !paper_inputs.empty() ? "some: " : "",
                                    fmt::join(paper_inputs, "; "));
    for (const auto& [slot, name] : variants) data.variants.push_back(name);

    std::vector<bool> varies(names.size(), false);
    bool profile_varies = false, scenario_varies = false, origin_varies = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::set<std::string> distinct;
        for (const auto& [key, series] : panels) distinct.insert(to_string(key.split[i].value));
        varies[i] = distinct.size() > 1;
        if (varies[i]) data.last_split = distinct.size();
    }
    for (const auto& [key, series] : panels) {
        const PanelKey& first = panels.begin()->first;
        profile_varies =
            profile_varies || key.profile != first.profile || key.provenance != first.provenance;
        scenario_varies = scenario_varies || key.scenario != first.scenario;
        origin_varies = origin_varies || key.origin != first.origin;
    }
    if (profile_varies || scenario_varies || origin_varies) data.last_split = 1;
    std::vector<std::string> fixed;
    for (auto& [key, series] : panels) {
        std::vector<std::string> title;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (to_string(key.split[i].value).empty()) continue;
            auto& words = varies[i] ? title : fixed;
            if (varies[i] || &key == &panels.begin()->first)
                words.push_back(spoken(names[i], key.split[i].value));
        }
        if (scenario_varies)
            title.push_back("faults: " + (key.scenario.empty() ? "none" : key.scenario));
        if (!key.origin.empty()) title.push_back(key.origin);
        FigurePanel panel{joined(title),
                          fmt::format("{} · {}", to_string(key.provenance), to_string(key.profile)),
                          {}};
        for (auto& [slot, one] : series) panel.series.push_back(std::move(one));
        data.panels.push_back(std::move(panel));
    }
    data.fixed = joined(fixed);
    return data;
}

}  // namespace assay::report
