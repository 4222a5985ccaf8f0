// See timeline_overlay.hpp.
#include "suite/report/timeline_overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "suite/experiment/axis_value.hpp"
#include "suite/report/figure_panel.hpp"
#include "suite/report/figure_style.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/origin_labels.hpp"
#include "suite/report/timeline_labels.hpp"
#include "suite/report/timeline_sample.hpp"
#include "suite/report/utf8.hpp"

namespace assay::report {
namespace {

constexpr double left = 74, right_margin = 16, width = figure_width - left - right_margin;
constexpr double curve_height = 150, workers_height = 46, row_height = 13, label_size = 10;
constexpr double reason_size = 8, least_words = 28;
constexpr double merge_pixels = 16;  // ticks closer than this become one with a count
constexpr double minutes_from_s = 600;
constexpr std::size_t most_panels = 24, most_fault_lines = 2, faults_columns = 110;
using Anchor = TextStyle::Anchor;

/// Who ran under the same conditions, by slot.
using Rivals = std::map<std::size_t, const store::Sample*>;

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

/// Scenario time, in the unit of the axis.
struct Clock {
    double per_unit_s = 1;
    std::string_view unit = "s";
    AxisScale scale;

    explicit Clock(const Rivals& rivals) {
        double end_s = 0;
        for (const auto& [slot, sample] : rivals) end_s = std::max(end_s, end_of(*sample));
        if (end_s > minutes_from_s) per_unit_s = 60, unit = "min";
        scale = AxisScale::until(end_s / per_unit_s);
    }
    double px(double t_s) const { return left + scale.position(t_s / per_unit_s) * width; }
    double merge_s() const { return merge_pixels / width * scale.high() * per_unit_s; }
    std::string text(double t_s) const { return fmt::format("{:.1f} {}", t_s / per_unit_s, unit); }
};

void draw_row_name(SvgCanvas& canvas, double y, const std::string& name) {
    canvas.text({left - 6, y + row_height - 3}, fitted(name, label_size, left - 12),
                {.size = label_size, .anchor = Anchor::end, .ink = Ink::muted});
}

void draw_side_title(SvgCanvas& canvas, double top, double height, const std::string& title) {
    canvas.text({14, top + height / 2}, fitted(title, 10.5, height + 20),
                {.size = 10.5, .anchor = Anchor::middle, .rotate = -90});
}

std::vector<TimelineMark> marks_of(const store::Sample& sample, std::string_view kind,
                                   double merge_s) {
    std::vector<store::Event> events;
    for (const store::Event& event : sample.events)
        if (event.kind == kind) events.push_back(event);
    return timeline_marks(events, merge_s);
}

/// One row of ticks, each with the number of events where it stands for several; faint lines
/// through the curve above. Returns the y below.
double draw_ticks(SvgCanvas& canvas, const Clock& clock, const store::Sample& sample,
                  const char* kind, const std::string& name, double curve_top, double y) {
    const std::vector<TimelineMark> marks = marks_of(sample, kind, clock.merge_s());
    if (marks.empty()) return y;
    draw_row_name(canvas, y, name);
    const Paint paint{Ink::series, event_slot(kind)};
    for (const TimelineMark& mark : marks) {
        const double x = clock.px(mark.t_s);
        canvas.line({x, curve_top}, {x, y + 1}, {Ink::grid}, 1);
        canvas.rectangle({x - 1, y + 1}, 2, row_height - 3, paint,
                         fmt::format("{} × {} from {}", mark.count, kind, clock.text(mark.t_s)));
        if (mark.count > 1)
            canvas.text({x + 3, y + row_height - 3}, std::to_string(mark.count),
                        {.size = 9, .ink = Ink::muted});
    }
    return y + row_height;
}

/// The membership that most rivals share is the scenario's; a restarting one may differ in detail.
double draw_membership(SvgCanvas& canvas, const Clock& clock, const Rivals& rivals,
                       double curve_top, double y) {
    constexpr std::array<std::pair<const char*, const char*>, 3> kinds{
        {{"death", "deaths"}, {"leave", "leaves"}, {"join", "joins"}}};
    for (const auto& [kind, name] : kinds) {
        const store::Sample* shown = nullptr;
        std::set<std::size_t> counts;
        for (const auto& [slot, sample] : rivals) {
            std::size_t count = 0;
            for (const store::Event& event : sample->events) count += event.kind == kind;
            if (count > 0 && !shown) shown = sample;
            counts.insert(count);
        }
        if (!shown) continue;
        // Told where the rivals disagree, so that nobody takes one's for all.
        if (counts.size() > 1) {
            for (const auto& [slot, sample] : rivals)
                y = draw_ticks(canvas, clock, *sample, kind,
                               fmt::format("{} {}", name, sample->spec.variant), curve_top, y);
        } else {
            y = draw_ticks(canvas, clock, *shown, kind, name, curve_top, y);
        }
    }
    return y;
}

constexpr const char* usual_curve = "throughput";

/// The curve that the figure names; of a result older than that curve, the usual one.
const store::TimeSeries* curve_of(const Experiment& experiment, const store::Sample& sample) {
    const store::TimeSeries* named = series_of(sample, experiment.figure.metric);
    return named ? named : series_of(sample, usual_curve);
}

void draw_throughput(SvgCanvas& canvas, const Experiment& experiment, PlotFrame& frame,
                     const Clock& clock, const Rivals& rivals) {
    double highest = 0;
    for (const auto& [slot, sample] : rivals)
        if (const store::TimeSeries* series = curve_of(experiment, *sample))
            for (const double value : series->values)
                if (std::isfinite(value)) highest = std::max(highest, value);
    frame.y = AxisScale::linear(0, highest);
    draw_y_axis(canvas, frame);
    // Backwards, so that the first variant, the system itself, lies on top.
    for (auto rival = rivals.rbegin(); rival != rivals.rend(); ++rival) {
        const store::TimeSeries* series = curve_of(experiment, *rival->second);
        if (!series) continue;
        std::vector<Point> path;
        for (std::size_t i = 0; i < series->values.size(); ++i)
            if (std::isfinite(series->values[i]))
                path.push_back(
                    {clock.px(series->t_s[i]), frame.py(std::max(series->values[i], 0.0))});
        canvas.polyline(path, {Ink::series, rival->first}, 1.6, series_dash(rival->first));
    }
}

/// Live workers as steps; rivals with the same numbers share one line. Returns the y below.
double draw_workers(SvgCanvas& canvas, const Clock& clock, const Rivals& rivals, double top) {
    double highest = 0;
    std::vector<std::pair<std::size_t, const store::TimeSeries*>> different;
    for (const auto& [slot, sample] : rivals) {
        const store::TimeSeries* series = series_of(*sample, "workers");
        if (!series) continue;
        for (const double value : series->values)
            if (std::isfinite(value)) highest = std::max(highest, value);
        if (std::none_of(different.begin(), different.end(), [&](const auto& other) {
                return other.second->t_s == series->t_s && other.second->values == series->values;
            }))
            different.emplace_back(slot, series);
    }
    if (different.empty()) return top;
    PlotFrame frame{{left, top + 10, width, workers_height}, clock.scale, {}, 0};
    frame.y = AxisScale::linear(0, highest, true);
    for (const double value : {0.0, highest}) {
        canvas.line({left, frame.py(value)}, {left + width, frame.py(value)}, {Ink::grid});
        canvas.text({left - 5, frame.py(value) + 3.6}, fmt::format("{:.0f}", value),
                    {.size = 10.5, .anchor = Anchor::end, .ink = Ink::muted});
    }
    const bool shared = different.size() == 1;
    for (auto line = different.rbegin(); line != different.rend(); ++line) {
        const auto& [slot, series] = *line;
        std::vector<Point> path;
        for (std::size_t i = 0; i < series->values.size(); ++i) {
            if (!std::isfinite(series->values[i])) continue;
            const Point to{clock.px(series->t_s[i]), frame.py(series->values[i])};
            if (!path.empty()) path.push_back({to.x, path.back().y});
            path.push_back(to);
        }
        if (!path.empty()) {  // the last number holds until the end
            const double end = clock.scale.position(clock.scale.high()) * width + left;
            path.push_back({std::min(end, std::max(path.back().x, end)), path.back().y});
        }
        canvas.polyline(path, shared ? Paint{Ink::text} : Paint{Ink::series, slot}, 1.4,
                        shared ? "" : series_dash(slot));
    }
    draw_side_title(canvas, frame.area.top, workers_height, "workers");
    return frame.area.bottom() + 8;
}

bool is_recovery(const store::Event& event) {
    return event.kind == "restart" || event.kind == "regroup";
}

/// x of the first recovery from event `i` on; without any, the right edge.
double next_recovery(const Clock& clock, const store::Sample& sample, std::size_t i) {
    for (; i < sample.events.size(); ++i)
        if (is_recovery(sample.events[i])) return clock.px(sample.events[i].t_s);
    return left + width;
}

/// A lane for each rival that restarted or regrouped. Returns the y below.
double draw_recoveries(SvgCanvas& canvas, const Clock& clock, const Rivals& rivals, double y) {
    for (const auto& [slot, sample] : rivals) {
        bool any = false;
        for (std::size_t i = 0; i < sample->events.size(); ++i) {
            const store::Event& event = sample->events[i];
            if (!is_recovery(event)) continue;
            const bool restart = event.kind == "restart";
            if (!any) draw_row_name(canvas, y, sample->spec.variant);
            any = true;
            const double from = clock.px(event.t_s);
            const double until = std::min(clock.px(event.t_s + lasted(event)), left + width);
            const std::string reason = reason_of(event);
            const std::string tip = fmt::format(
                "{}: {} at {}{}{}", sample->spec.variant, event.kind, clock.text(event.t_s),
                lasted(event) > 0 ? fmt::format(", {:.3g} s", lasted(event)) : "",
                reason.empty() ? "" : ": " + reason);
            if (restart) {
                const double right = from + std::max(until - from, 3.0);
                canvas.rectangle({from, y + 2}, right - from, row_height - 4, {Ink::series, slot},
                                 tip);
                // In words: inside the block, else before what follows it, else shortened inside.
                if (reason.empty()) continue;
                const double next = next_recovery(clock, *sample, i + 1);
                const double words = text_width(reason, reason_size);
                const double inside = std::min(right, next) - from - 4;
                if (words > inside && right + words + 6 < next)
                    canvas.text({right + 3, y + row_height - 4}, reason,
                                {.size = reason_size, .ink = Ink::muted});
                else if (inside >= least_words)
                    canvas.text({from + 2, y + row_height - 4}, fitted(reason, reason_size, inside),
                                {.size = reason_size, .ink = Ink::background});
            } else {
                canvas.rectangle({from, y + 5}, std::max(until - from, 1.0), row_height - 9,
                                 {Ink::muted}, tip);
            }
        }
        if (any) y += row_height;
    }
    return y;
}

std::string x_title(const Experiment& experiment, const Clock& clock) {
    std::string title =
        experiment.figure.x_title.empty() ? "scenario time" : experiment.figure.x_title;
    if (const auto unit = title.rfind(" ("); unit != std::string::npos && title.back() == ')')
        title.resize(unit);
    return fmt::format("{} ({})", title, clock.unit);
}

/// At most two lines; the HTML report's table has all of it.
double draw_fault_plan(SvgCanvas& canvas, const std::string& scenario, double top) {
    std::vector<std::string> lines =
        wrapped("faults: " + (scenario.empty() ? "none" : scenario), faults_columns);
    if (lines.size() > most_fault_lines) {
        lines.resize(most_fault_lines);
        lines.back() += " …";
    }
    for (const std::string& line : lines) {
        canvas.text({left, top + 10}, fitted(line, 10.5, width), {.size = 10.5, .ink = Ink::muted});
        top += row_height;
    }
    return top;
}

double draw_panel(SvgCanvas& canvas, const Experiment& experiment, const Rivals& rivals,
                  const std::string& title, bool tell_faults, double top) {
    const store::Sample& first = *rivals.begin()->second;
    const Clock clock(rivals);
    PlotFrame frame{{left, top + 28, width, curve_height}, clock.scale, {}, 0};
    draw_panel_head(
        canvas, frame.area, title,
        fmt::format("{} · {}", to_string(first.spec.provenance), to_string(first.spec.profile)));
    if (tell_faults) frame.area.top = draw_fault_plan(canvas, first.spec.scenario, top + 22) + 8;
    const PlotArea curve = frame.area;
    double y = draw_membership(canvas, clock, rivals, curve.top, curve.bottom() + 5);
    draw_throughput(canvas, experiment, frame, clock, rivals);
    draw_side_title(canvas, curve.top, curve.height,
                    experiment.figure.y_title.empty() ? "throughput" : experiment.figure.y_title);
    y = draw_workers(canvas, clock, rivals, y);
    y = draw_recoveries(canvas, clock, rivals, y) + 4;
    frame.area.height = y - frame.area.top;
    canvas.line({left, y}, {left + width, y}, {Ink::muted});
    draw_numeric_x_axis(canvas, frame);
    canvas.text({left + width / 2, y + 29}, fitted(x_title(experiment, clock), 11, width),
                {.size = 11, .anchor = Anchor::middle});
    return y + 40;
}

/// A sentence where results are drawn that are older than the figure's curve; else empty.
std::string older_curves(const Experiment& experiment, const std::map<Conditions, Rivals>& panels) {
    std::set<std::string> older;
    for (const auto& [conditions, rivals] : panels)
        for (const auto& [slot, sample] : rivals)
            if (!series_of(*sample, experiment.figure.metric) && series_of(*sample, usual_curve))
                older.insert(sample->spec.variant);
    if (older.empty()) return "";
    return fmt::format("Older results ({}) have no curve {}: theirs is {}; run them again.",
                       fmt::join(older, ", "), experiment.figure.metric, usual_curve);
}

}  // namespace

std::string overlay_figure(const Experiment& experiment, std::span<const store::Sample> samples) {
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
    for (const auto& [slot, variant] : variants) head.variants.push_back(variant);
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

    SvgCanvas canvas(
        as_id(experiment.id), experiment.title,
        fmt::format("Throughput over time of {} in {} panel{}; deaths and joins, live "
                    "workers, and each one's restarts below.",
                    fmt::join(head.variants, ", "), panels.size(), panels.size() == 1 ? "" : "s"));
    double y = draw_head(canvas, experiment, head) + 4;
    canvas.text({16, y + 4},
                "Lanes: a block is a restart of that variant, a grey bar a regroup without one.",
                {.size = 10.5, .ink = Ink::muted});
    y += 12;
    if (const std::string note = older_curves(experiment, panels); !note.empty()) {
        canvas.text({16, y + 4}, fitted(note, 10.5, figure_width - 32),
                    {.size = 10.5, .ink = Ink::muted});
        y += 12;
    }
    std::size_t drawn = 0;
    for (const auto& [conditions, rivals] : panels) {
        if (drawn++ == most_panels) {
            canvas.text({16, y + 12},
                        fmt::format("{} more panels are not drawn; the table has them all.",
                                    panels.size() - most_panels),
                        {.size = 11, .ink = Ink::muted});
            y += 22;
            break;
        }
        std::string title = described(rivals.begin()->second->spec, true);
        if (!conditions.origin.empty()) title += (title.empty() ? "" : " · ") + conditions.origin;
        y = draw_panel(canvas, experiment, rivals, title, scenarios.size() > 1, y);
    }
    return std::move(canvas).finish(figure_width, y + 4);
}

}  // namespace assay::report
