// A trend as SVG: a mark per session, levels between change points, and what changed there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "suite/report/figures/figure_panel.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/text/text_table.hpp"
#include "suite/report/trend/trend.hpp"

namespace assay::report {
namespace {

constexpr double trend_left = 66, trend_right = 38, trend_height = 270;
constexpr double label_line = 13;  ///< pixels per line of text above the plot
constexpr std::size_t label_rows = 3;
constexpr double change_label_size = 10.5;
using Anchor = TextStyle::Anchor;

/// Colours say which way is good, by the metric's direction, and nothing else.
Paint paint_of(Turn turn) {
    constexpr std::size_t bluish_green = 2, vermilion = 1;
    if (turn == Turn::better) return {Ink::variant, bluish_green};
    if (turn == Turn::worse) return {Ink::variant, vermilion};
    return {Ink::muted};
}

/// "+5.2 % worse, commit 12ab34cd".
std::string label_of(const TrendChange& change) {
    std::string text = change_text(change.at);
    if (change.turn != Turn::neither) text += fmt::format(" {}", to_string(change.turn));
    for (const SuspectChange& suspect : change.suspects)
        if (suspect.name == "commit") text += ", commit " + suspect.after.substr(0, 8);
    return text;
}

std::string tooltip_of(const store::HistoryPoint& point, double low, double high) {
    std::string text = fmt::format("{} session {}: {}", point.started.substr(0, 16),
                                   point.session.substr(0, 8), number(point.median));
    if (point.n() > 1)
        text += fmt::format(" ({}–{}, {} samples)", number(low), number(high), point.n());
    if (!point.commit.empty()) text += ", commit " + point.commit.substr(0, 8);
    return text;
}

AxisScale scale_of(const Trend& trend) {
    double low = INFINITY, high = -INFINITY;
    for (const store::HistoryPoint& point : trend.points)
        for (const double value : point.values) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    if (low >= 0 && low < high / 2) low = 0;
    return AxisScale::linear(low, high, trend.unit == "count");
}

/// Dates under as many sessions as there is room for, the first and the last among them.
void draw_dates(Plot& plot, const PlotFrame& frame, const Trend& trend) {
    constexpr std::size_t most = 8;
    const auto end = static_cast<double>(trend.points.size() - 1);
    const double low = std::clamp(std::ceil(frame.x.low()), 0.0, end);
    const auto first = static_cast<std::size_t>(low);
    const auto last = static_cast<std::size_t>(std::clamp(std::floor(frame.x.high()), low, end));
    const std::size_t every = std::max<std::size_t>(1, (last - first + most - 2) / (most - 1));
    for (std::size_t i = first; i <= last; i += i == last ? 1 : std::min(every, last - i)) {
        // The one before the last makes room for it.
        if (i != last && i != first && last - i < every) continue;
        const double x = frame.px(static_cast<double>(i));
        plot.line({x, frame.area.bottom()}, {x, frame.area.bottom() + 4}, {Ink::muted});
        plot.text({x, frame.area.bottom() + 16}, trend.points[i].started.substr(0, 10),
                  {.size = 10.5, .anchor = Anchor::middle, .ink = Ink::muted});
    }
}

/// The mean of every stretch between change points.
void draw_levels(Plot& plot, const PlotFrame& frame, const Trend& trend) {
    for (std::size_t i = 0; i <= trend.changes.size() && !trend.changes.empty(); ++i) {
        const bool first = i == 0, last = i == trend.changes.size();
        const double level = last ? trend.changes[i - 1].at.after : trend.changes[i].at.before;
        const double from = first ? -0.4 : trend.changes[i - 1].at.index - 0.5;
        const double to =
            last ? static_cast<double>(trend.points.size()) - 0.6 : trend.changes[i].at.index - 0.5;
        plot.line({frame.px(from), frame.py(level)}, {frame.px(to), frame.py(level)}, {Ink::muted},
                  1.4, "6 3");
    }
}

void draw_changes(Plot& plot, const PlotFrame& frame, const Trend& trend) {
    std::array<double, label_rows> free_from{};
    for (const TrendChange& change : trend.changes) {
        const double x = frame.px(change.at.index - 0.5);
        if (x < frame.area.left || x > frame.area.right()) continue;
        plot.line({x, frame.area.top}, {x, frame.area.bottom()}, paint_of(change.turn), 1.8);
        const std::string label = label_of(change);
        const double width = text_width(label, change_label_size);
        const double begin = std::clamp(x - width / 2, 4.0, figure_width - 4 - width);
        const auto row = std::find_if(free_from.begin(), free_from.end(),
                                      [&](double free) { return free <= begin; });
        if (row == free_from.end()) continue;  // the list of changes has it
        *row = begin + width + 10;
        const double above = label_line * static_cast<double>(row - free_from.begin());
        plot.text({begin, frame.area.top - 6 - above}, label, {.size = change_label_size});
    }
}

void draw_points(Plot& plot, const PlotFrame& frame, const Trend& trend) {
    const double radius = trend.points.size() > 120 ? 1.8 : 3;
    const Paint ours{Ink::variant, 0};
    for (std::size_t i = 0; i < trend.points.size(); ++i) {
        const store::HistoryPoint& point = trend.points[i];
        const auto [low, high] = std::minmax_element(point.values.begin(), point.values.end());
        const Point at{frame.px(static_cast<double>(i)), frame.py(point.median)};
        if (*high > *low) plot.line({at.x, frame.py(*low)}, {at.x, frame.py(*high)}, ours, 1.2);
        const bool ringed = i + 1 == trend.points.size() && trend.newest && trend.newest->unusual;
        plot.mark(at, ringed ? radius + 2 : radius, 0, ringed, tooltip_of(point, *low, *high));
    }
}

std::string legend_of(const Trend& trend) {
    bool spread = false, good_or_bad = false;
    for (const store::HistoryPoint& point : trend.points) spread |= point.n() > 1;
    for (const TrendChange& change : trend.changes) good_or_bad |= change.turn != Turn::neither;
    std::string text =
        spread ? "mark: median of a session, line: least to greatest sample" : "mark: one session";
    if (!trend.changes.empty())
        text += good_or_bad ? "; upright: change point, green better, orange worse; dashed: level"
                            : "; upright: change point; dashed: level";
    return text;
}

}  // namespace

Plot trend_plot(const Trend& trend, const statistics::HistoryOptions& rule,
                const ViewWindow& window) {
    Plot plot(as_id(trend.title()), trend.title(),
              fmt::format("{} over {} sessions with {} change points. Newest {}.", trend.quantity(),
                          trend.points.size(), trend.changes.size(), newest_text(trend, rule)));
    const auto head = [&](double y, const std::string& text, const TextStyle& style) {
        plot.text({16, y}, fitted(text, style.size, figure_width - 32), style);
    };
    plot.heading(trend.title());
    head(42, trend.context(), {.size = 11, .ink = Ink::muted});
    head(58, "newest: " + newest_text(trend, rule), {.size = 11});
    head(74, legend_of(trend), {.size = 11, .ink = Ink::muted});
    const double top =
        90 + label_line * static_cast<double>(std::min(trend.changes.size(), label_rows));
    PlotFrame frame{{trend_left, top, figure_width - trend_left - trend_right, trend_height},
                    AxisScale::categories(trend.points.size()),
                    scale_of(trend),
                    0};
    if (window.x) frame.x = frame.x.part(window.x->low, window.x->high);
    if (window.y) frame.y = frame.y.part(window.y->low, window.y->high);
    draw_y_axis(plot, frame);
    draw_dates(plot, frame, trend);
    if (!window.whole()) plot.clip(frame.area);
    draw_levels(plot, frame, trend);
    plot.clip({});
    draw_changes(plot, frame, trend);
    if (!window.whole()) plot.clip(frame.area);
    draw_points(plot, frame, trend);
    plot.clip({});
    plot.panel(frame);
    plot.text({16, top + trend_height / 2}, fitted(trend.quantity(), 11.5, trend_height),
              {.size = 11.5, .anchor = Anchor::middle, .rotate = -90});
    plot.text({frame.area.left + frame.area.width / 2, frame.area.bottom() + 36},
              "session, by the day (UTC) it started", {.size = 11.5, .anchor = Anchor::middle});
    return std::move(plot).finish(figure_width, frame.area.bottom() + 48);
}

}  // namespace assay::report
