// A single variant in detail: one lane per rank.
#include "suite/report/figures/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "suite/report/figures/decimate.hpp"
#include "suite/report/figures/figure_panel.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/sample_groups.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

constexpr double left = 74, right_margin = 16;
constexpr double curve_height = 110, lane_height = 17, label_row = 14, label_size = 10;
constexpr double kind_row = 14;
constexpr double faults_row = 14, faults_size = 10.5;
constexpr std::size_t faults_columns = 110;  // characters of a fault plan in one line
constexpr std::size_t most_blocks = 8, most_label_rows = 7;
using Anchor = TextStyle::Anchor;
using Presences = std::map<int, std::vector<Presence>>;

/// What is drawn above the lanes, on so many pixels.
struct Curves {
    std::vector<const store::TimeSeries*> shown;
    std::size_t width = static_cast<std::size_t>(figure_width - left - right_margin);
};
constexpr std::size_t most_curves = 8;
constexpr double other_curve_height = 56, between_curves = 16;

std::string curve_title(const store::TimeSeries& curve) {
    const std::string name = metric_key(curve.name, curve.labels);
    return curve.unit.empty() ? name : fmt::format("{} ({})", name, curve.unit);
}

/// Beside the curve, upwards; what does not fit into one line goes on in a second.
void draw_curve_title(Plot& plot, const PlotArea& area, const std::string& title) {
    constexpr double size = 10.5;
    std::string first = title, second;
    for (std::size_t columns = display_width(title);
         columns > 0 && text_width(first, size) > area.height; --columns) {
        const std::vector<std::string> lines = wrapped(title, columns);
        first = lines.front();
        second = fmt::format("{}", fmt::join(lines.begin() + 1, lines.end(), " "));
    }
    const double middle = area.top + area.height / 2;
    const TextStyle style{.size = size, .anchor = Anchor::middle, .rotate = -90};
    plot.text({second.empty() ? 16.0 : 12.0, middle}, fitted(first, size, area.height), style);
    if (!second.empty()) plot.text({25, middle}, fitted(second, size, area.height), style);
}

void draw_curve(Plot& plot, PlotFrame& frame, const store::TimeSeries& series, std::size_t slot,
                const std::string& title, std::size_t width) {
    double highest = 0;
    for (const double value : series.values)
        if (std::isfinite(value)) highest = std::max(highest, value);
    frame.y = AxisScale::linear(0, highest);
    draw_y_axis(plot, frame);
    std::vector<Point> path;
    for (const std::size_t i : points_to_paint(series.t_s, series.values, width))
        path.push_back({frame.px(series.t_s[i]), frame.py(std::max(series.values[i], 0.0))});
    plot.polyline(path, {Ink::variant, slot}, 1.6);
    const std::string& or_unit = title.empty() ? series.unit : title;
    draw_curve_title(plot, frame.area, or_unit.empty() ? series.name : or_unit);
}

void draw_lanes(Plot& plot, const PlotFrame& frame, const store::Sample& sample,
                const Presences& lanes, double top, EventKinds kinds) {
    double y = top;
    for (const auto& [rank, present] : lanes) {
        const double middle = y + lane_height / 2;
        std::size_t death_slot = 0;
        plot.text({left - 6, middle + 3.6}, fmt::format("rank {}", rank),
                  {.size = 10.5, .anchor = Anchor::end, .ink = Ink::muted});
        for (const Presence& there : present)
            plot.rectangle(
                {frame.px(there.from_s), middle - 4}, frame.px(there.to_s) - frame.px(there.from_s),
                8, {Ink::grid},
                fmt::format("rank {}: {:.3f} s to {:.3f} s", rank, there.from_s, there.to_s));
        for (const store::Event& event : sample.events) {
            const EventKind& kind = kind_of(kinds, event.kind);
            if (event.rank != rank || kind.lane == EventLane::row) continue;
            const std::size_t slot = slot_of(kind.colour);
            if (kind.lane == EventLane::death) {
                death_slot = slot;
                continue;
            }
            const std::string tip =
                fmt::format("{} rank {} at {:.3f} s", event.kind, rank, event.t_s);
            if (const double seconds = lasted(event); seconds > 0)
                plot.rectangle({frame.px(event.t_s), middle - 4},
                               std::max(frame.px(event.t_s + seconds) - frame.px(event.t_s), 1.5),
                               8, {Ink::variant, slot}, tip);
            else
                plot.rectangle({frame.px(event.t_s) - 1.5, middle - 5}, 3, 10, {Ink::variant, slot},
                               tip);
        }
        for (const Presence& there : present)
            if (there.died)
                plot.cross({frame.px(there.to_s), middle}, 4, {Ink::variant, death_slot});
        y += lane_height;
    }
}

/// Kinds with a row of their own; returns the y below.
double draw_rows(Plot& plot, const PlotFrame& frame, const store::Sample& sample, double y,
                 EventKinds kinds) {
    const double first = y;
    for (const EventKind& kind : kinds) {
        if (kind.lane != EventLane::row) continue;
        std::set<double> times;  // one event, or one per rank: drawn once
        for (const store::Event& event : sample.events)
            if (event.kind == kind.name) times.insert(std::round(frame.px(event.t_s) * 2) / 2);
        if (times.empty()) continue;
        plot.text({left - 6, y + 9}, kind.label,
                  {.size = 10.5, .anchor = Anchor::end, .ink = Ink::muted});
        for (const double x : times) plot.line({x, y + 1}, {x, y + 10}, {Ink::muted}, 1);
        y += kind_row;
    }
    return std::max(y, first + kind_row);
}

/// Labels above, lines down through the curve and the lanes.
void draw_marks(Plot& plot, const PlotFrame& frame, const std::vector<TimelineMark>& marks,
                const std::vector<PlacedLabel>& labels, double labels_bottom, double bottom) {
    // All lines first, so that none runs through a label.
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const double x = frame.px(marks[i].t_s);
        const double top = labels[i].shown
                               ? labels_bottom - static_cast<double>(labels[i].row) * label_row - 8
                               : labels_bottom + 2;
        plot.line({x, top}, {x, bottom}, {Ink::variant, slot_of(marks[i].kind.colour)}, 1,
                  marks[i].kind.lane == EventLane::cause ? "" : "3 2");
    }
    for (std::size_t i = 0; i < marks.size(); ++i) {
        if (!labels[i].shown) continue;
        const double y = labels_bottom - static_cast<double>(labels[i].row) * label_row;
        plot.rectangle({labels[i].left + 1, y - 9}, text_width(marks[i].text, label_size) + 4, 12,
                       {Ink::background});
        plot.rectangle({labels[i].left + 1, y - 9}, 2.5, 11,
                       {Ink::variant, slot_of(marks[i].kind.colour)});
        plot.text({labels[i].left + 6, y}, marks[i].text, {.size = label_size});
    }
}

/// The fault plan below the block's title; returns the height that it takes.
double draw_faults(Plot& plot, const std::string& scenario, double top) {
    double y = top;
    for (const std::string& line :
         wrapped("faults: " + (scenario.empty() ? "none" : scenario), faults_columns)) {
        plot.text({left, y}, fitted(line, faults_size, figure_width - left - right_margin),
                  {.size = faults_size, .ink = Ink::muted});
        y += faults_row;
    }
    return y - top;
}

double draw_block(Plot& plot, const Experiment& experiment, const store::Sample& sample,
                  const std::string& origin, bool tell_faults, double top, EventKinds kinds,
                  const Curves& curves) {
    const double end_s = end_of(sample);
    const Presences lanes = presence_of(sample, end_s, kinds);
    const store::TimeSeries* throughput = recorded_curve(sample, "throughput");
    const double width = figure_width - left - right_margin;
    PlotFrame frame{{left, 0, width, curve_height}, AxisScale::until(end_s), {}, 0};
    const double merge_s = (frame.x.high() - frame.x.low()) * 6 / width;
    const std::vector<TimelineMark> marks = timeline_marks(sample.events, merge_s, kinds);
    std::vector<std::pair<double, double>> widths;
    for (const TimelineMark& mark : marks)
        widths.emplace_back(frame.px(mark.t_s), text_width(mark.text, label_size) + 8);
    const std::vector<PlacedLabel> labels =
        place_labels(widths, left, figure_width - right_margin, most_label_rows);
    std::size_t rows = 0;
    for (const PlacedLabel& label : labels)
        if (label.shown) rows = std::max(rows, label.row + 1);

    const std::string title =
        fmt::format("{}{}{}{}{}", sample.spec.variant, sample.spec.axes.empty() ? "" : " · ",
                    to_string(sample.spec.axes), origin.empty() ? "" : " · ", origin);
    const PlotArea head{left, top + 24, width, 0};
    draw_panel_head(
        plot, head, title,
        fmt::format("{} · {}", to_string(sample.spec.provenance), to_string(sample.spec.profile)));
    if (tell_faults) top += draw_faults(plot, sample.spec.scenario, head.top + 8);
    const double labels_bottom = top + 30 + static_cast<double>(rows) * label_row;
    frame.area.top = labels_bottom + 8;
    double bottom = frame.area.top;
    for (const store::TimeSeries* curve : curves.shown) {
        const bool first = curve == throughput;
        frame.area.top = bottom;
        frame.area.height = first ? curve_height : other_curve_height;
        draw_curve(plot, frame, *curve, variant_slot(experiment, sample.spec.variant),
                   first ? experiment.figure.y_title : curve_title(*curve), curves.width);
        bottom = frame.area.bottom() + (curve == curves.shown.back() ? 8 : between_curves);
    }
    frame.area.top = labels_bottom + 8;
    const double lanes_top = bottom;
    const double rows_top = lanes_top + static_cast<double>(lanes.size()) * lane_height;
    draw_lanes(plot, frame, sample, lanes, lanes_top, kinds);
    bottom = draw_rows(plot, frame, sample, rows_top, kinds);
    draw_marks(plot, frame, marks, labels, labels_bottom, rows_top);
    frame.area.height = bottom - frame.area.top;
    plot.line({left, bottom}, {left + width, bottom}, {Ink::muted});
    draw_numeric_x_axis(plot, frame);
    plot.panel(frame);
    const std::string& x_title = experiment.figure.x_title;
    plot.text({left + width / 2, bottom + 30},
              x_title.empty() ? "time in s since the sample's start" : fitted(x_title, 11, width),
              {.size = 11, .anchor = Anchor::middle});
    return bottom + 40;
}

Plot begun(const Experiment& experiment) {
    Plot plot(as_id(experiment.id), experiment.title,
              fmt::format("Timeline of {}: throughput, faults and what followed them, one lane per "
                          "rank.",
                          experiment.id));
    plot.heading(experiment.title);
    return plot;
}
constexpr double below_title = 36;

}  // namespace

std::vector<const store::TimeSeries*> painted_curves(const store::Sample& sample) {
    std::vector<const store::TimeSeries*> curves;
    if (const store::TimeSeries* first = recorded_curve(sample, "throughput"))
        curves.push_back(first);
    for (const store::TimeSeries& curve : sample.series_data)
        if (curves.size() < most_curves && !curve.t_s.empty() &&
            curve.t_s.size() == curve.values.size() && (curves.empty() || &curve != curves.front()))
            curves.push_back(&curve);
    return curves;
}

Plot sample_timeline(const Experiment& experiment, const store::Sample& sample, EventKinds kinds,
                     std::size_t width) {
    Plot plot = begun(experiment);
    const double bottom = draw_block(plot, experiment, sample, "", true, below_title + 12, kinds,
                                     {painted_curves(sample), width});
    return std::move(plot).finish(figure_width, bottom + 4);
}

Plot timeline_figure(const Experiment& experiment, std::span<const store::Sample> samples,
                     EventKinds kinds) {
    if (experiment.variants.size() > 1) return overlay_figure(experiment, samples, kinds);
    using Key = std::tuple<Profile, Provenance, std::size_t, std::string, std::string, std::string>;
    const std::vector<OriginLabel> origins =
        origin_labels(samples, [](const store::Sample& sample) { return asked_for(sample); });
    std::map<Key, const store::Sample*> blocks;
    std::set<std::string> scenarios;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const store::Sample& sample = samples[i];
        if (sample.status != "ok") continue;
        const SampleSpec& spec = sample.spec;
        blocks.try_emplace({spec.profile, spec.provenance, variant_slot(experiment, spec.variant),
                            to_string(spec.axes), spec.scenario, origins[i].text()},
                           &sample);
        scenarios.insert(spec.scenario);
    }
    if (blocks.empty())
        return empty_figure(experiment, "No samples yet: assay run " + experiment.id);
    Plot plot = begun(experiment);
    double y = below_title;
    std::size_t drawn = 0;
    for (const auto& [key, sample] : blocks) {
        if (drawn++ == most_blocks) {
            plot.text({16, y + 12},
                      fmt::format("{} more timelines are not drawn.", blocks.size() - most_blocks),
                      {.size = 11, .ink = Ink::muted});
            y += 22;
            break;
        }
        Curves curves;
        if (const store::TimeSeries* throughput = recorded_curve(*sample, "throughput"))
            curves.shown = {throughput};
        y = draw_block(plot, experiment, *sample, std::get<5>(key), scenarios.size() > 1, y, kinds,
                       curves);
    }
    return std::move(plot).finish(figure_width, y + 4);
}

}  // namespace assay::report
