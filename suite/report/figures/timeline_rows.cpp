#include "suite/report/figures/timeline_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace assay::report {
namespace {

constexpr double left = timeline_left, width = timeline_width, row_height = timeline_row_height;
constexpr double workers_height = 46, label_size = 10, reason_size = 8, least_words = 28;
constexpr double merge_pixels = 16;
constexpr double minutes_from_s = 600;
using Anchor = TextStyle::Anchor;

void draw_row_name(Plot& plot, double y, const std::string& name) {
    plot.text({left - 6, y + row_height - 3}, fitted(name, label_size, left - 12),
              {.size = label_size, .anchor = Anchor::end, .ink = Ink::muted});
}

std::vector<TimelineMark> marks_of(const store::Sample& sample, const EventKind& kind,
                                   double merge_s) {
    std::vector<store::Event> events;
    for (const store::Event& event : sample.events)
        if (event.kind == kind.name) events.push_back(event);
    return timeline_marks(events, merge_s, std::span(&kind, 1));
}

/// One row of ticks, each with the number of events where it stands for several; faint lines
/// through the curve above. Returns the y below.
double draw_ticks(Plot& plot, const Clock& clock, const store::Sample& sample,
                  const EventKind& kind, const std::string& name, double curve_top, double y) {
    const std::vector<TimelineMark> marks = marks_of(sample, kind, clock.merge_s());
    if (marks.empty()) return y;
    draw_row_name(plot, y, name);
    const Paint paint{Ink::variant, slot_of(kind.colour)};
    plot.clip(timeline_area);
    for (const TimelineMark& mark : marks) {
        const double x = clock.px(mark.t_s);
        plot.line({x, curve_top}, {x, y + 1}, {Ink::grid}, 1);
        plot.rectangle({x - 1, y + 1}, 2, row_height - 3, paint,
                       fmt::format("{} × {} from {}", mark.count, kind.name, clock.text(mark.t_s)));
        if (mark.count > 1)
            plot.text({x + 3, y + row_height - 3}, std::to_string(mark.count),
                      {.size = 9, .ink = Ink::muted});
    }
    plot.clip({});
    return y + row_height;
}

bool is_interruption(const EventKind& kind) {
    return kind.lane == EventLane::stop || kind.lane == EventLane::pause;
}

/// x of the first interruption from event `i` on; without any, the right edge.
double next_interruption(const Clock& clock, const store::Sample& sample, std::size_t i,
                         EventKinds kinds) {
    for (; i < sample.events.size(); ++i)
        if (is_interruption(kind_of(kinds, sample.events[i].kind)))
            return clock.px(sample.events[i].t_s);
    return left + width;
}

}  // namespace

Clock::Clock(const Rivals& rivals, const ViewWindow& window) {
    double end_s = 0;
    for (const auto& [slot, sample] : rivals) end_s = std::max(end_s, end_of(*sample));
    if (end_s > minutes_from_s) per_unit_s = 60, unit = "min";
    scale = AxisScale::until(end_s / per_unit_s);
    if (window.x) scale = scale.part(window.x->low / per_unit_s, window.x->high / per_unit_s);
}

AxisScale Clock::in_seconds() const {
    return AxisScale::until(1).part(scale.low() * per_unit_s, scale.high() * per_unit_s);
}

double Clock::merge_s() const {
    return merge_pixels / width * (scale.high() - scale.low()) * per_unit_s;
}

std::string Clock::text(double t_s) const {
    return fmt::format("{:.1f} {}", t_s / per_unit_s, unit);
}

void draw_side_title(Plot& plot, double top, double height, const std::string& title) {
    plot.text({14, top + height / 2}, fitted(title, 10.5, height + 20),
              {.size = 10.5, .anchor = Anchor::middle, .rotate = -90});
}

double draw_membership(Plot& plot, const Clock& clock, const Rivals& rivals, double curve_top,
                       double y, EventKinds kinds) {
    for (const EventKind& kind : kinds) {
        if (kind.lane != EventLane::death && kind.lane != EventLane::departure &&
            kind.lane != EventLane::arrival)
            continue;
        const store::Sample* shown = nullptr;
        std::set<std::size_t> counts;
        for (const auto& [slot, sample] : rivals) {
            std::size_t count = 0;
            for (const store::Event& event : sample->events) count += event.kind == kind.name;
            if (count > 0 && !shown) shown = sample;
            counts.insert(count);
        }
        if (!shown) continue;
        if (counts.size() > 1) {
            for (const auto& [slot, sample] : rivals)
                y = draw_ticks(plot, clock, *sample, kind,
                               fmt::format("{} {}", kind.label, sample->spec.variant), curve_top,
                               y);
        } else {
            y = draw_ticks(plot, clock, *shown, kind, kind.label, curve_top, y);
        }
    }
    return y;
}

double draw_workers(Plot& plot, const Clock& clock, const Rivals& rivals, double top) {
    double highest = 0;
    std::vector<std::pair<std::size_t, const store::TimeSeries*>> different;
    for (const auto& [slot, sample] : rivals) {
        const store::TimeSeries* series = recorded_curve(*sample, "workers");
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
        plot.line({left, frame.py(value)}, {left + width, frame.py(value)}, {Ink::grid});
        plot.text({left - 5, frame.py(value) + 3.6}, fmt::format("{:.0f}", value),
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
        plot.clip(timeline_area);
        plot.polyline(path, shared ? Paint{Ink::text} : Paint{Ink::variant, slot}, 1.4,
                      shared ? "" : variant_dash(slot));
        plot.clip({});
    }
    draw_side_title(plot, frame.area.top, workers_height, "workers");
    return frame.area.bottom() + 8;
}

double draw_interruptions(Plot& plot, const Clock& clock, const Rivals& rivals, double y,
                          EventKinds kinds) {
    for (const auto& [slot, sample] : rivals) {
        bool any = false;
        for (std::size_t i = 0; i < sample->events.size(); ++i) {
            const store::Event& event = sample->events[i];
            const EventKind& kind = kind_of(kinds, event.kind);
            if (!is_interruption(kind)) continue;
            if (!any) draw_row_name(plot, y, sample->spec.variant);
            any = true;
            const double from = std::max(clock.px(event.t_s), left);
            const double until = std::min(clock.px(event.t_s + lasted(event)), left + width);
            if (from > left + width || until < left) continue;
            const std::string reason = reason_of(event);
            const std::string tip = fmt::format(
                "{}: {} at {}{}{}", sample->spec.variant, event.kind, clock.text(event.t_s),
                lasted(event) > 0 ? fmt::format(", {:.3g} s", lasted(event)) : "",
                reason.empty() ? "" : ": " + reason);
            if (kind.lane == EventLane::stop) {
                const double right = from + std::max(until - from, 3.0);
                plot.rectangle({from, y + 2}, right - from, row_height - 4, {Ink::variant, slot},
                               tip, 0.35);  // faint, so that words on it can be read
                plot.rectangle({from, y + 2}, 2, row_height - 4, {Ink::variant, slot});
                // In words: inside the block, else before what follows it, else shortened inside.
                if (reason.empty()) continue;
                const double next = next_interruption(clock, *sample, i + 1, kinds);
                const double words = text_width(reason, reason_size);
                const double inside = std::min(right, next) - from - 4;
                if (words > inside && right + words + 6 < next)
                    plot.text({right + 3, y + row_height - 4}, reason,
                              {.size = reason_size, .ink = Ink::muted});
                else if (inside >= least_words)
                    plot.text({from + 4, y + row_height - 4},
                              fitted(reason, reason_size, inside - 2), {.size = reason_size});
            } else {
                plot.rectangle({from, y + 5}, std::max(until - from, 1.0), row_height - 9,
                               {Ink::muted}, tip);
            }
        }
        if (any) y += row_height;
    }
    return y;
}

}  // namespace assay::report
