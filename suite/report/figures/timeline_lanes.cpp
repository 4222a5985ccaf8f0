#include "suite/report/figures/timeline_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "suite/report/figures/timeline_rows.hpp"

namespace assay::report {
namespace {

constexpr double left = timeline_left, lane_height = 17, kind_row = 14, name_size = 10.5;
constexpr double bar_height = 8, mark_radius = 3.4, nearly_the_same = 0.5;  // pixels
using Anchor = TextStyle::Anchor;

std::string tooltip(const store::Event& event) {
    std::string words = event.kind;
    if (event.rank >= 0) words += fmt::format(" of rank {}", event.rank);
    words += fmt::format(" at {:.3f} s", event.t_s);
    if (const double seconds = lasted(event); seconds > 0)
        words += fmt::format(", {:.3g} s", seconds);
    if (const std::string reason = reason_of(event); !reason.empty()) words += ": " + reason;
    return words;
}

// Checkpoints and restarts have one colour, and so one shape.
bool is_hollow(const EventKind& kind) { return kind.lane == EventLane::stop; }

void draw_name(Plot& plot, double y, const std::string& name) {
    plot.text({left - 6, y + 3.6}, fitted(name, name_size, left - 7),
              {.size = name_size, .anchor = Anchor::end, .ink = Ink::muted});
}

}  // namespace

TimelineLanes::TimelineLanes(const store::Sample& sample, double end_s, EventKinds kinds)
    : present_(presence_of(sample, end_s, kinds)) {
    std::map<std::string_view, const EventKind*> by_name;
    for (const EventKind& kind : kinds) by_name.emplace(kind.name, &kind);
    std::map<const EventKind*, std::vector<double>> rows;
    std::set<const EventKind*> met;
    for (const store::Event& event : sample.events) {
        if (!std::isfinite(event.t_s)) continue;
        const auto found = by_name.find(event.kind);
        const EventKind& kind =
            found == by_name.end() ? kind_of(kinds, event.kind) : *found->second;
        if (kind.lane == EventLane::row) {
            rows[&kind].push_back(event.t_s);
        } else {
            events_[event.rank < 0 ? all : event.rank].push_back({&event, &kind});
            met.insert(&kind);
        }
    }
    for (const EventKind& kind : kinds) {
        if (met.contains(&kind)) met_.push_back(&kind);
        if (const auto row = rows.find(&kind); row != rows.end()) {
            std::sort(row->second.begin(), row->second.end());
            rows_.emplace_back(&kind, std::move(row->second));
        }
    }
}

double TimelineLanes::height() const {
    return lane_height * static_cast<double>(present_.size() + events_.count(all));
}

double TimelineLanes::rows_height() const {
    return rows_.empty() ? 6 : kind_row * static_cast<double>(rows_.size());
}

double TimelineLanes::draw_legend(Plot& plot, double y) const {
    constexpr double size = 10.5, swatch = 14, between = 16, line = 15;
    if (met_.empty()) return y;
    double x = left;
    for (const EventKind* kind : met_) {
        const double width = swatch + text_width(kind->label, size) + between;
        if (x + width > figure_width && x > left) x = left, y += line;
        const std::size_t slot = slot_of(kind->colour);
        if (kind->lane == EventLane::death)
            plot.cross({x + 4, y - 4}, 3.6, {Ink::variant, slot});
        else
            plot.mark({x + 4, y - 4}, mark_radius, slot, is_hollow(*kind), "");
        plot.text({x + swatch, y}, kind->label, {.size = size, .ink = Ink::muted});
        x += width;
    }
    return y + line;
}

void TimelineLanes::draw_presence(Plot& plot, const PlotFrame& frame) const {
    double middle = frame.area.top + lane_height / 2;
    if (events_.contains(all)) {
        draw_name(plot, middle, "all");
        middle += lane_height;
    }
    for (const auto& [rank, present] : present_) {
        draw_name(plot, middle, fmt::format("rank {}", rank));
        plot.clip(frame.area);
        for (const Presence& there : present)
            plot.rectangle(
                {frame.px(there.from_s), middle - bar_height / 2},
                frame.px(there.to_s) - frame.px(there.from_s), bar_height, {Ink::grid},
                fmt::format("rank {}: {:.3f} s to {:.3f} s", rank, there.from_s, there.to_s));
        plot.clip({});
        middle += lane_height;
    }
}

/// What takes time as a bar, and a mark where each begins; of those of one kind that would lie on
/// one another, one.
void TimelineLanes::draw_lane(Plot& plot, const PlotFrame& frame,
                              const std::vector<LaneEvent>& events, double middle) const {
    const Range seen{frame.x.low(), frame.x.high()};
    std::map<std::string_view, double> drawn_at;
    for (const auto& [event, kind] : events) {
        const double seconds = std::max(lasted(*event), 0.0);
        if (event->t_s > seen.high || event->t_s + seconds < seen.low) continue;
        const double x = frame.px(event->t_s), end = frame.px(event->t_s + seconds);
        const auto [at, first] = drawn_at.try_emplace(event->kind, x);
        if (!first && std::abs(at->second - x) < nearly_the_same && end - x < 1) continue;
        at->second = x;
        const Paint paint{Ink::variant, slot_of(kind->colour)};
        if (end - x > 1)
            plot.rectangle({x, middle - bar_height / 2}, end - x, bar_height, paint,
                           tooltip(*event), 0.45);
        if (kind->lane != EventLane::death)
            plot.mark({x, middle}, mark_radius, paint.slot, is_hollow(*kind), tooltip(*event));
        else
            plot.cross({x, middle}, 4, paint);
    }
}

void TimelineLanes::draw_events(Plot& plot, const PlotFrame& frame) const {
    static const std::vector<LaneEvent> none;
    const auto of = [&](int lane) -> const std::vector<LaneEvent>& {
        const auto found = events_.find(lane);
        return found == events_.end() ? none : found->second;
    };
    plot.clip(frame.area);
    double middle = frame.area.top + lane_height / 2;
    if (events_.contains(all)) {
        draw_lane(plot, frame, of(all), middle);
        middle += lane_height;
    }
    for (const auto& [rank, present] : present_) {
        draw_lane(plot, frame, of(rank), middle);
        middle += lane_height;
    }
    plot.clip({});
}

void TimelineLanes::draw_rows(Plot& plot, const PlotFrame& frame, double y) const {
    for (const auto& [kind, times] : rows_) {
        draw_name(plot, y + 5.4, kind->label);
        double last = -1;  // one event, or one per rank: drawn once
        for (auto t = std::lower_bound(times.begin(), times.end(), frame.x.low());
             t != times.end() && *t <= frame.x.high(); ++t) {
            const double x = std::round(frame.px(*t) * 2) / 2;
            if (x != last) plot.line({x, y + 1}, {x, y + 10}, {Ink::muted}, 1);
            last = x;
        }
        y += kind_row;
    }
}

}  // namespace assay::report
