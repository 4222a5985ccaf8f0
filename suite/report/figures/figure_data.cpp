#include "suite/report/figures/figure_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "suite/report/figures/plot.hpp"
#include "suite/report/sample_groups.hpp"

namespace assay::report {
namespace {

/// The axis decides which data an experiment works on: some claim of it says what it needs there.
bool is_input(const std::string& axis, const std::string& experiment,
              std::span<const Claim> claims) {
    return std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
        return claim.experiment == experiment &&
               std::any_of(claim.needs.begin(), claim.needs.end(),
                           [&](const std::string& need) { return need.rfind(axis + ":", 0) == 0; });
    });
}

/// A published number that is a point of this figure: bounds, ratios of two variants, what was made
/// of several points and what we say ourselves are not.
bool is_figure_point(const Claim& claim, const Experiment& experiment) {
    static const std::set<std::string> bounds{"at_least",   "at_most",    "greater",
                                              "increasing", "decreasing", "order"};
    return claim.value && claim.kind != ClaimKind::ours && !claim.over &&
           claim.test.reduce.empty() && claim.experiment == experiment.id &&
           claim.metric == experiment.figure.metric && !bounds.contains(claim.test.name);
}

/// How a panel answers what a claim selects.
struct PanelMatch {
    enum class Kind { none, other_input, full } kind = Kind::none;
    std::string inputs;  ///< other_input: "its trace: smartmoe, ours: synthetic"
};

/// `names` are the axes and labels that split panels, `values` those of one panel in that order;
/// `x` is left out of the comparison. Only an input of the experiment, an axis that one of the
/// claims `needs` ("trace:smartmoe"), may differ: a value of another model or step would mislead.
PanelMatch match_panel(const Claim& claim, std::span<const Claim> claims,
                       const std::vector<std::string>& names,
                       const std::vector<OrderedValue>& values, const std::string& x) {
    PanelMatch match{PanelMatch::Kind::full, ""};
    for (const auto& [name, wanted] : claim.of.where) {
        if (name == x) continue;
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) return {};
        const Value& ours = values[static_cast<std::size_t>(at - names.begin())].value;
        if (same_number_or_text(ours, wanted)) continue;
        if (to_string(ours).empty() || !is_input(name, claim.experiment, claims)) return {};
        match.kind = PanelMatch::Kind::other_input;
        match.inputs += fmt::format("{}its {}: {}, ours: {}", match.inputs.empty() ? "" : "; ",
                                    name, to_string(wanted), to_string(ours));
    }
    return match;
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
    std::optional<double> drawn_at;  ///< Figure::drawn_at of the same sample
};

std::optional<double> value_of(const store::Sample& sample, const std::string& metric) {
    for (const store::MetricValue& each : sample.metrics)
        if (each.name == metric && each.labels.empty() && std::isfinite(each.value))
            return each.value;
    return std::nullopt;
}

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
                      metric.value,
                      value_of(sample, experiment.figure.drawn_at)};
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
        xs.begin(), xs.end(), [](const OrderedValue& x) { return std::isnan(number_of(x.value)); });
    const bool categorical = !numbers || figure.kind == Figure::Kind::bars;
    if (categorical)
        for (const OrderedValue& x : xs) data.categories.push_back(to_string(x.value));
    const auto place = [&](const Value& x) {
        if (!categorical) return number_of(x);
        const auto at = std::find_if(xs.begin(), xs.end(), [&](const OrderedValue& y) {
            return same_number_or_text(y.value, x);
        });
        return at == xs.end() ? std::numeric_limits<double>::quiet_NaN()
                              : static_cast<double>(at - xs.begin());
    };

    std::map<PanelKey, std::map<std::size_t, FigureCurve>> panels;
    std::map<PanelKey, std::map<std::size_t, std::map<double, std::vector<double>>>> values;
    std::map<PanelKey, std::map<std::size_t, std::map<double, std::vector<double>>>> places;
    std::set<std::pair<std::size_t, std::string>> variants;
    std::set<std::string> paper_inputs;
    for (const Cell& cell : cells) {
        const std::size_t slot = variant_slot(experiment, *cell.variant);
        panels[cell.panel][slot].variant = *cell.variant;
        panels[cell.panel][slot].slot = slot;
        values[cell.panel][slot][place(cell.x.value)].push_back(cell.value);
        if (cell.drawn_at) places[cell.panel][slot][place(cell.x.value)].push_back(*cell.drawn_at);
        variants.emplace(slot, *cell.variant);
    }
    for (auto& [key, slots] : values)
        for (auto& [slot, points] : slots)
            for (auto& [x, all] : points) {
                std::sort(all.begin(), all.end());
                std::vector<double>& at = places[key][slot][x];
                std::sort(at.begin(), at.end());
                panels[key][slot].points.push_back({x, median_of_sorted(all), all.front(),
                                                    all.back(), all.size(),
                                                    at.empty() ? x : median_of_sorted(at)});
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
        for (const auto& [key, curves] : panels) {
            const PanelMatch& match =
                matches.emplace(key, match_panel(claim, claims, names, key.split, figure.x))
                    .first->second;
            best = std::max(best, match.kind);
        }
        for (auto& [key, curves] : panels) {
            const PanelMatch& match = matches.at(key);
            if (match.kind != best) continue;
            curves[slot].variant = claim.of.variant;
            curves[slot].slot = slot;
            curves[slot].paper.push_back({x, *claim.value, claim.id, match.inputs});
            data.has_paper = true;
            paper_inputs.insert(match.inputs);
            variants.emplace(slot, claim.of.variant);
        }
    }
    const bool some_on_ours = paper_inputs.erase("") > 0;
    data.paper_inputs = fmt::format("{}{}", some_on_ours && !paper_inputs.empty() ? "some: " : "",
                                    fmt::join(paper_inputs, "; "));
    // A variant keeps its colour from figure to figure, unless another that is here had the same.
    const bool more_than_colours = experiment.variants.size() > palette_size;
    std::map<std::size_t, std::size_t> drawn;
    for (const auto& [slot, name] : variants) {
        data.variants.push_back(name);
        data.variant_slots.push_back(more_than_colours ? data.variant_slots.size() : slot);
        drawn[slot] = data.variant_slots.back();
    }

    std::vector<bool> varies(names.size(), false);
    bool profile_varies = false, scenario_varies = false, origin_varies = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::set<std::string> distinct;
        for (const auto& [key, curves] : panels) distinct.insert(to_string(key.split[i].value));
        varies[i] = distinct.size() > 1;
        if (varies[i]) data.last_split = distinct.size();
    }
    for (const auto& [key, curves] : panels) {
        const PanelKey& first = panels.begin()->first;
        profile_varies =
            profile_varies || key.profile != first.profile || key.provenance != first.provenance;
        scenario_varies = scenario_varies || key.scenario != first.scenario;
        origin_varies = origin_varies || key.origin != first.origin;
    }
    if (profile_varies || scenario_varies || origin_varies) data.last_split = 1;
    std::vector<std::string> fixed;
    for (auto& [key, curves] : panels) {
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
        for (auto& [slot, one] : curves) {
            one.slot = drawn.at(slot);
            panel.curves.push_back(std::move(one));
        }
        data.panels.push_back(std::move(panel));
    }
    data.fixed = joined(fixed);
    return data;
}

}  // namespace assay::report
