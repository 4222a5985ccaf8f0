// Several variants over one another: a panel per case, their curves, and the rows below them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "suite/experiment/experiment.hpp"
#include "suite/report/figures/decimate.hpp"
#include "suite/report/figures/figure_panel.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/timeline.hpp"
#include "suite/report/figures/timeline_rows.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/sample_groups.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

constexpr double curve_height = 150;
constexpr std::size_t most_panels = 24, most_fault_lines = 2, faults_columns = 110;
using Anchor = TextStyle::Anchor;
constexpr double left = timeline_left, width = timeline_width, row_height = timeline_row_height;

/// Conditions in the order in which panels appear.
struct Conditions {
    std::vector<OrderedValue> axes;
    Profile profile;
    Provenance provenance;
    std::string scenario;
    std::string origin;  // empty where there is but one
    auto operator<=>(const Conditions&) const = default;
};

std::vector<std::string> axis_names(const Experiment& experiment,
                                    std::span<const store::Sample> samples) {
    std::vector<std::string> names = experiment.figure.panels;
    const auto add = [&](const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    for (const Axis& axis : experiment.axes) add(axis.name);
    for (const store::Sample& sample : samples)
        for (const auto& [name, value] : sample.spec.axes) add(name);
    return names;
}

constexpr const char* usual_curve = "throughput";

/// The curve that the figure names; of a result older than that curve, the usual one.
const store::TimeSeries* curve_of(const Experiment& experiment, const store::Sample& sample) {
    const store::TimeSeries* named = recorded_curve(sample, experiment.figure.metric);
    return named ? named : recorded_curve(sample, usual_curve);
}

void draw_throughput(Plot& plot, const Experiment& experiment, PlotFrame& frame, const Clock& clock,
                     const Rivals& rivals) {
    double highest = 0;
    for (const auto& [slot, sample] : rivals)
        if (const store::TimeSeries* series = curve_of(experiment, *sample))
            for (const double value : series->values)
                if (std::isfinite(value)) highest = std::max(highest, value);
    frame.y = AxisScale::linear(0, highest);
    draw_y_axis(plot, frame);
    // Backwards, so that the first variant, the system itself, lies on top.
    for (auto rival = rivals.rbegin(); rival != rivals.rend(); ++rival) {
        const store::TimeSeries* series = curve_of(experiment, *rival->second);
        if (!series) continue;
        std::vector<Point> path;
        const Range seen{clock.scale.low() * clock.per_unit_s,
                         clock.scale.high() * clock.per_unit_s};
        for (const std::size_t i : points_to_paint(series->t_s, series->values,
                                                   static_cast<std::size_t>(timeline_width), seen))
            path.push_back({clock.px(series->t_s[i]), frame.py(std::max(series->values[i], 0.0))});
        plot.clip(timeline_area);
        plot.polyline(path, {Ink::variant, rival->first}, 1.6, variant_dash(rival->first));
        plot.clip({});
    }
}

std::string x_title(const Experiment& experiment, const Clock& clock) {
    std::string title =
        experiment.figure.x_title.empty() ? "scenario time" : experiment.figure.x_title;
    if (const auto unit = title.rfind(" ("); unit != std::string::npos && title.back() == ')')
        title.resize(unit);
    return fmt::format("{} ({})", title, clock.unit);
}

/// At most two lines; the HTML report's table has all of it.
double draw_fault_plan(Plot& plot, const std::string& scenario, double top) {
    std::vector<std::string> lines =
        wrapped("faults: " + (scenario.empty() ? "none" : scenario), faults_columns);
    if (lines.size() > most_fault_lines) {
        lines.resize(most_fault_lines);
        lines.back() += " …";
    }
    for (const std::string& line : lines) {
        plot.text({left, top + 10}, fitted(line, 10.5, width), {.size = 10.5, .ink = Ink::muted});
        top += row_height;
    }
    return top;
}

double draw_panel(Plot& plot, const Experiment& experiment, const Rivals& rivals,
                  const std::string& title, bool tell_faults, double top, EventKinds kinds,
                  const ViewWindow& window) {
    const store::Sample& first = *rivals.begin()->second;
    const Clock clock(rivals, window);
    PlotFrame frame{{left, top + 28, width, curve_height}, clock.scale, {}, 0};
    draw_panel_head(
        plot, frame.area, title,
        fmt::format("{} · {}", to_string(first.spec.provenance), to_string(first.spec.profile)));
    if (tell_faults) frame.area.top = draw_fault_plan(plot, first.spec.scenario, top + 22) + 8;
    const PlotArea curve = frame.area;
    double y = draw_membership(plot, clock, rivals, curve.top, curve.bottom() + 5, kinds);
    draw_throughput(plot, experiment, frame, clock, rivals);
    draw_side_title(plot, curve.top, curve.height,
                    experiment.figure.y_title.empty() ? "throughput" : experiment.figure.y_title);
    plot.panel({curve, clock.in_seconds(), frame.y, 0});
    y = draw_workers(plot, clock, rivals, y);
    y = draw_interruptions(plot, clock, rivals, y, kinds) + 4;
    frame.area.height = y - frame.area.top;
    plot.line({left, y}, {left + width, y}, {Ink::muted});
    draw_numeric_x_axis(plot, frame);
    plot.panel({{left, curve.bottom(), width, y - curve.bottom()}, clock.in_seconds(), {}, 0});
    plot.text({left + width / 2, y + 29}, fitted(x_title(experiment, clock), 11, width),
              {.size = 11, .anchor = Anchor::middle});
    return y + 40;
}

/// The kinds of a lane in words: "restart or rollback", "restarts or rollbacks".
struct NamedKinds {
    std::string names, labels;
};

NamedKinds kinds_in(EventLane lane, EventKinds kinds) {
    NamedKinds named;
    for (const EventKind& kind : kinds) {
        if (kind.lane != lane) continue;
        const char* or_else = named.names.empty() ? "" : " or ";
        named.names += or_else + kind.name;
        named.labels += or_else + kind.label;
    }
    return named;
}

std::string lanes_legend(const std::string& stops, const std::string& pauses) {
    if (stops.empty() && pauses.empty()) return "";
    if (pauses.empty()) return fmt::format("Lanes: a block is a {} of that variant.", stops);
    if (stops.empty()) return fmt::format("Lanes: a grey bar is a {} of that variant.", pauses);
    return fmt::format("Lanes: a block is a {} of that variant, a grey bar a {} without one.",
                       stops, pauses);
}

/// A sentence where results are drawn that are older than the figure's curve; else empty.
std::string older_curves(const Experiment& experiment, const std::map<Conditions, Rivals>& panels) {
    std::set<std::string> older;
    for (const auto& [conditions, rivals] : panels)
        for (const auto& [slot, sample] : rivals)
            if (!recorded_curve(*sample, experiment.figure.metric) &&
                recorded_curve(*sample, usual_curve))
                older.insert(sample->spec.variant);
    if (older.empty()) return "";
    return fmt::format("Older results ({}) have no curve {}: theirs is {}; run them again.",
                       fmt::join(older, ", "), experiment.figure.metric, usual_curve);
}

}  // namespace

Plot overlay_figure(const Experiment& experiment, std::span<const store::Sample> samples,
                    EventKinds kinds, const ViewWindow& window) {
    const std::vector<std::string> names = axis_names(experiment, samples);
    std::map<Conditions, Rivals> panels;
    std::vector<std::set<std::string>> values(names.size());
    std::set<std::string> scenarios;
    FigureData head;  // of which the legend is drawn
    std::map<std::size_t, std::string> variants;
    const std::vector<OriginLabel> origins =
        origin_labels(samples, [](const store::Sample& sample) { return asked_for(sample); });
    for (std::size_t at = 0; at < samples.size(); ++at) {
        const store::Sample& sample = samples[at];
        if (sample.status != "ok") continue;
        const SampleSpec& spec = sample.spec;
        Conditions conditions{{}, spec.profile, spec.provenance, spec.scenario, origins[at].text()};
        const Case axes = with_unnamed_values(experiment, spec);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto found = axes.find(names[i]);
            conditions.axes.push_back(found == axes.end()
                                          ? OrderedValue{}
                                          : ordered(experiment, names[i], found->second));
            values[i].insert(found == axes.end() ? "" : to_string(found->second));
        }
        const std::size_t slot = variant_slot(experiment, spec.variant);
        panels[std::move(conditions)].try_emplace(slot, &sample);
        variants.try_emplace(slot, spec.variant);
        scenarios.insert(spec.scenario);
    }
    if (panels.empty())
        return empty_figure(experiment, "No samples yet: assay run " + experiment.id);
    for (const auto& [slot, variant] : variants) {
        head.variants.push_back(variant);
        head.variant_slots.push_back(slot);
    }
    // What is the same everywhere is said once, what differs above each panel.
    const auto described = [&](const SampleSpec& spec, bool varying) {
        const Case axes = with_unnamed_values(experiment, spec);
        std::vector<std::string> words;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (const auto found = axes.find(names[i]);
                found != axes.end() && (values[i].size() > 1) == varying)
                words.push_back(std::holds_alternative<std::string>(found->second)
                                    ? to_string(found->second)
                                    : names[i] + " " + to_string(found->second));
        return fmt::format("{}", fmt::join(words, " · "));
    };
    head.fixed = described(panels.begin()->second.begin()->second->spec, false);

    const NamedKinds stops = kinds_in(EventLane::stop, kinds);
    Plot plot(
        as_id(experiment.id), experiment.title,
        fmt::format("Throughput over time of {} in {} panel{}; deaths and joins, live "
                    "workers{} below.",
                    fmt::join(head.variants, ", "), panels.size(), panels.size() == 1 ? "" : "s",
                    stops.labels.empty() ? "" : ", and each one's " + stops.labels));
    double y = draw_head(plot, experiment, head) + 4;
    const std::string lanes = lanes_legend(stops.names, kinds_in(EventLane::pause, kinds).names);
    if (!lanes.empty()) {
        plot.text({16, y + 4}, lanes, {.size = 10.5, .ink = Ink::muted});
        y += 12;
    }
    if (const std::string note = older_curves(experiment, panels); !note.empty()) {
        plot.text({16, y + 4}, fitted(note, 10.5, figure_width - 32),
                  {.size = 10.5, .ink = Ink::muted});
        y += 12;
    }
    std::size_t drawn = 0;
    for (const auto& [conditions, rivals] : panels) {
        if (drawn++ == most_panels) {
            plot.text({16, y + 12},
                      fmt::format("{} more panels are not drawn; the table has them all.",
                                  panels.size() - most_panels),
                      {.size = 11, .ink = Ink::muted});
            y += 22;
            break;
        }
        std::string title = described(rivals.begin()->second->spec, true);
        if (!conditions.origin.empty()) title += (title.empty() ? "" : " · ") + conditions.origin;
        y = draw_panel(plot, experiment, rivals, title, scenarios.size() > 1, y, kinds, window);
    }
    return std::move(plot).finish(figure_width, y + 4);
}

}  // namespace assay::report
