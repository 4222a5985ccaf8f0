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
#include "suite/report/figures/timeline_lanes.hpp"
#include "suite/report/figures/timeline_rows.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/sample_groups.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

constexpr double left = timeline_left, width = timeline_width;
constexpr double curve_height = 104, other_curve_height = 52, curve_head = 20;
constexpr double label_row = 14, label_size = 10, faults_row = 14, faults_size = 10.5;
constexpr std::size_t faults_columns = 110;  // characters of a fault plan in one line
constexpr std::size_t most_blocks = 8, most_label_rows = 5, most_curves = 8;
using Anchor = TextStyle::Anchor;

/// What is drawn below the lanes, on so many pixels.
struct Curves {
    std::vector<const store::TimeSeries*> shown;
    CurveExtents extents;  // of those
    std::size_t pixels = static_cast<std::size_t>(width);
};

std::string curve_title(const store::TimeSeries& curve) {
    const std::string name = metric_key(curve.name, curve.labels);
    return curve.unit.empty() ? name : fmt::format("{} ({})", name, curve.unit);
}

Range range_with_zero(const store::TimeSeries& series) {
    Range range;
    for (const double value : series.values) {
        if (!std::isfinite(value)) continue;
        range.low = std::min(range.low, value);
        range.high = std::max(range.high, value);
    }
    return range;
}

CurveExtents extents_of(const store::Sample& sample,
                        std::span<const store::TimeSeries* const> curves) {
    CurveExtents extents{end_of(sample), {}};
    for (const store::TimeSeries* curve : curves) extents.values.push_back(range_with_zero(*curve));
    return extents;
}

/// Its own scale stays that of the whole curve, so that what moves when one pans is time alone.
void draw_curve(Plot& plot, PlotFrame& frame, const store::TimeSeries& series, const Range& values,
                std::size_t slot, const std::string& title, std::size_t pixels) {
    frame.y = AxisScale::linear(values.low, values.high);
    draw_y_axis(plot, frame);
    const bool steps = series.unit == "count";  // a number of things holds until the next
    std::vector<Point> path;
    for (const std::size_t i :
         points_to_paint(series.t_s, series.values, pixels, {frame.x.low(), frame.x.high()})) {
        const Point to{frame.px(series.t_s[i]), frame.py(series.values[i])};
        if (steps && path.size() > 1 && path.back().y == to.y && path[path.size() - 2].y == to.y)
            path.pop_back();  // nothing has changed
        if (steps && !path.empty() && path.back().y != to.y) path.push_back({to.x, path.back().y});
        path.push_back(to);
    }
    plot.clip(frame.area);
    plot.polyline(std::move(path), {Ink::variant, slot}, 1.6);
    plot.clip({});
    plot.text({left, frame.area.top - 6}, fitted(title, 10.5, width), {.size = 10.5});
    plot.panel(frame);
}

/// Moments that get a line, with their labels above the lanes.
struct Labels {
    std::vector<TimelineMark> marks;
    std::vector<PlacedLabel> places;
    std::size_t rows = 0;
};

/// What explains the rest, faults and who came and went, chooses first.
Labels labels_on(const PlotFrame& frame, const store::Sample& sample, EventKinds kinds,
                 std::size_t most_rows) {
    constexpr double merged_pixels = 6;
    const Range seen{frame.x.low(), frame.x.high()};
    Labels labels;
    labels.marks = timeline_marks(sample.events, seen.span() * merged_pixels / width, kinds);
    std::erase_if(labels.marks, [&](const TimelineMark& mark) { return !seen.contains(mark.t_s); });
    std::vector<std::pair<double, double>> wanted;
    std::vector<std::size_t> order;
    for (const TimelineMark& mark : labels.marks) {
        order.push_back(order.size());
        wanted.emplace_back(frame.px(mark.t_s), text_width(mark.text, label_size) + 8);
    }
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
        return labels.marks[i].kind.lane == EventLane::cause;
    });
    const auto causes_end = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
        return labels.marks[i].kind.lane != EventLane::cause;
    });
    std::stable_partition(causes_end, order.end(), [&](std::size_t i) {
        const EventLane lane = labels.marks[i].kind.lane;
        return lane == EventLane::death || lane == EventLane::departure ||
               lane == EventLane::arrival || lane == EventLane::stop;
    });
    labels.places = place_labels(wanted, left, left + width, most_rows, order);
    for (const PlacedLabel& place : labels.places)
        if (place.shown) labels.rows = std::max(labels.rows, place.row + 1);
    return labels;
}

/// Lines from the labels down: of causes and of who came and went through everything, of what
/// followed through the lanes.
void draw_mark_lines(Plot& plot, const PlotFrame& frame, const Labels& labels, double labels_bottom,
                     double lanes_bottom, double bottom) {
    for (std::size_t i = 0; i < labels.marks.size(); ++i) {
        const TimelineMark& mark = labels.marks[i];
        const PlacedLabel& place = labels.places[i];
        const EventLane lane = mark.kind.lane;
        const bool far = lane == EventLane::cause || lane == EventLane::death ||
                         lane == EventLane::departure || lane == EventLane::arrival;
        const double x = frame.px(mark.t_s);
        const double top = place.shown
                               ? labels_bottom - static_cast<double>(place.row) * label_row - 8
                               : labels_bottom + 2;
        plot.line({x, top}, {x, far ? bottom : lanes_bottom},
                  {Ink::variant, slot_of(mark.kind.colour)}, 1,
                  lane == EventLane::cause ? "" : "3 2");
    }
}

void draw_mark_labels(Plot& plot, const Labels& labels, double labels_bottom) {
    for (std::size_t i = 0; i < labels.marks.size(); ++i) {
        const TimelineMark& mark = labels.marks[i];
        const PlacedLabel& place = labels.places[i];
        if (!place.shown) continue;
        const double y = labels_bottom - static_cast<double>(place.row) * label_row;
        plot.rectangle({place.left + 1, y - 9}, text_width(mark.text, label_size) + 4, 12,
                       {Ink::background});
        plot.rectangle({place.left + 1, y - 9}, 2.5, 11, {Ink::variant, slot_of(mark.kind.colour)});
        plot.text({place.left + 6, y}, mark.text, {.size = label_size});
    }
}

/// The fault plan below the block's title; returns the height that it takes.
double draw_faults(Plot& plot, const std::string& scenario, double top) {
    double y = top;
    for (const std::string& line :
         wrapped("faults: " + (scenario.empty() ? "none" : scenario), faults_columns)) {
        plot.text({left, y}, fitted(line, faults_size, width),
                  {.size = faults_size, .ink = Ink::muted});
        y += faults_row;
    }
    return y - top;
}

void draw_time_grid(Plot& plot, const PlotFrame& frame, double top, double bottom) {
    for (const double tick : frame.x.ticks())
        plot.line({frame.px(tick), top}, {frame.px(tick), bottom}, {Ink::grid});
}

double draw_block(Plot& plot, const Experiment& experiment, const store::Sample& sample,
                  const std::string& origin, bool tell_faults, double top, EventKinds kinds,
                  const Curves& curves, const ViewWindow& window) {
    const double end_s = curves.extents.end_s;
    const TimelineLanes lanes(sample, end_s, kinds);
    PlotFrame frame{{left, 0, width, 0}, AxisScale::until(end_s), {}, 0};
    Labels labels = labels_on(frame, sample, kinds, most_label_rows);
    const double label_rows = static_cast<double>(labels.rows);  // of the whole, for one height
    if (window.x) {
        frame.x = frame.x.part(window.x->low, window.x->high);
        labels = labels_on(frame, sample, kinds, labels.rows);
    }
    const std::string title =
        fmt::format("{}{}{}{}{}", sample.spec.variant, sample.spec.axes.empty() ? "" : " · ",
                    to_string(sample.spec.axes), origin.empty() ? "" : " · ", origin);
    const PlotArea head{left, top + 24, width, 0};
    draw_panel_head(
        plot, head, title,
        fmt::format("{} · {}", to_string(sample.spec.provenance), to_string(sample.spec.profile)));
    if (tell_faults) top += draw_faults(plot, sample.spec.scenario, head.top + 8);
    top = lanes.draw_legend(plot, top + 36) - 6;

    const double labels_bottom = top + label_rows * label_row, lanes_top = labels_bottom + 8;
    const double lanes_bottom = lanes_top + lanes.height();
    const double rows_bottom = lanes_bottom + lanes.rows_height();
    double bottom = rows_bottom;
    for (const store::TimeSeries* curve : curves.shown)
        bottom += curve_head + (curve == curves.shown.front() ? curve_height : other_curve_height);

    draw_time_grid(plot, frame, lanes_top, bottom);
    frame.area = {left, lanes_top, width, lanes.height()};
    lanes.draw_presence(plot, frame);
    draw_mark_lines(plot, frame, labels, labels_bottom, lanes_bottom, bottom);
    lanes.draw_events(plot, frame);
    lanes.draw_rows(plot, frame, lanes_bottom);
    draw_mark_labels(plot, labels, labels_bottom);
    frame.area.height = rows_bottom - lanes_top;
    plot.panel(frame);

    const store::TimeSeries* throughput = recorded_curve(sample, "throughput");
    double y = rows_bottom;
    for (std::size_t i = 0; i < curves.shown.size(); ++i) {
        const store::TimeSeries* curve = curves.shown[i];
        const bool named = curve == throughput && !experiment.figure.y_title.empty();
        frame.area.top = y + curve_head;
        frame.area.height = i == 0 ? curve_height : other_curve_height;
        draw_curve(plot, frame, *curve, curves.extents.values[i],
                   variant_slot(experiment, sample.spec.variant),
                   named ? experiment.figure.y_title : curve_title(*curve), curves.pixels);
        y = frame.area.bottom();
    }
    frame.area = {left, lanes_top, width, bottom - lanes_top};
    plot.line({left, bottom}, {left + width, bottom}, {Ink::muted});
    draw_numeric_x_axis(plot, frame);
    const std::string& x_title = experiment.figure.x_title;
    plot.text({left + width / 2, bottom + 30},
              x_title.empty() ? "time in s since the sample's start" : fitted(x_title, 11, width),
              {.size = 11, .anchor = Anchor::middle});
    return bottom + 40;
}

Plot begun(const Experiment& experiment) {
    Plot plot(as_id(experiment.id), experiment.title,
              fmt::format("Timeline of {}: faults and what followed them, one lane per rank, and "
                          "throughput.",
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

CurveExtents extents_of(const store::Sample& sample) {
    return extents_of(sample, painted_curves(sample));
}

Plot sample_timeline(const Experiment& experiment, const store::Sample& sample,
                     const CurveExtents& extents, EventKinds kinds, std::size_t pixels,
                     const ViewWindow& window) {
    Plot plot = begun(experiment);
    const double bottom = draw_block(plot, experiment, sample, "", true, below_title + 12, kinds,
                                     {painted_curves(sample), extents, pixels}, window);
    return std::move(plot).finish(figure_width, bottom + 4);
}

Plot timeline_figure(const Experiment& experiment, std::span<const store::Sample> samples,
                     EventKinds kinds, const ViewWindow& window) {
    if (experiment.variants.size() > 1) return overlay_figure(experiment, samples, kinds, window);
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
        curves.extents = extents_of(*sample, curves.shown);
        y = draw_block(plot, experiment, *sample, std::get<5>(key), scenarios.size() > 1, y, kinds,
                       curves, window);
    }
    return std::move(plot).finish(figure_width, y + 4);
}

}  // namespace assay::report
