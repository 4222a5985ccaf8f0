#include "gui/plot/ratio_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "suite/report/text/text_table.hpp"

namespace assay::gui {
namespace {

using namespace report;
using Anchor = TextStyle::Anchor;

constexpr double names_width = 330, right_margin = 24, top = 86, row_height = 18;
constexpr double least_span = 0.05, widest_ratio = 4;

/// How far from 1 the axis must reach, as a factor.
double reach_of(const std::vector<const compare::Row*>& rows) {
    double reach = 1 + least_span;
    for (const compare::Row* row : rows)
        for (const double end : {row->low, row->high, row->ratio})
            if (std::isfinite(end) && end > 0) reach = std::max({reach, end, 1 / end});
    return std::min(reach * 1.05, widest_ratio);
}

// The colours of a verdict are orange for worse and green for better, as in trends.
std::size_t slot_of(const compare::Row& row) {
    using compare::RowVerdict;
    if (row.verdict == RowVerdict::slower || row.verdict == RowVerdict::failed) return 1;
    return row.verdict == RowVerdict::faster ? 2 : 7;
}

void draw_axis(Plot& plot, const PlotFrame& frame, double margin) {
    const auto& area = frame.area;
    plot.clip(area);
    plot.rectangle({frame.px(1 - margin), area.top}, frame.px(1 + margin) - frame.px(1 - margin),
                   area.height, {Ink::grid}, fmt::format("within {:.1f} %", 100 * margin));
    plot.line({frame.px(1), area.top}, {frame.px(1), area.bottom()}, {Ink::muted});
    plot.clip({});
    for (const double tick : frame.x.ticks()) {
        if (tick < frame.x.low() || tick > frame.x.high()) continue;
        plot.line({frame.px(tick), area.top}, {frame.px(tick), area.bottom()}, {Ink::grid});
        plot.text({frame.px(tick), area.bottom() + 15}, frame.x.label(tick),
                  {.size = 10.5, .anchor = Anchor::middle, .ink = Ink::muted});
    }
    plot.text({area.left + area.width / 2, area.bottom() + 34}, "B / A, with its interval",
              {.size = 11.5, .anchor = Anchor::middle});
}

/// Without what is too much in its middle: rows of one figure differ at their ends.
std::string shortened(const std::string& name, double size, double room) {
    if (text_width(name, size) <= room) return name;
    const auto is_inside = [&](std::size_t at) {  // of a character of more than one byte
        return at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80;
    };
    std::size_t head = name.size() / 2, tail = head;
    std::string words;
    do {
        do --head;
        while (head > 0 && is_inside(head));
        do ++tail;
        while (is_inside(tail));
        words = name.substr(0, head) + "…" + name.substr(tail);
    } while (head > 0 && tail < name.size() && text_width(words, size) > room);
    return words;
}

/// `reached`: by the whole axis; what lies beyond stands at its end.
void draw_row(Plot& plot, const PlotFrame& frame, const compare::Row& row, const Range& reached,
              double y) {
    const auto inside = [&](double ratio) {
        return frame.px(std::clamp(ratio, reached.low, reached.high));
    };
    const std::size_t slot = slot_of(row);
    plot.text({frame.area.left - 8, y + 3.6}, shortened(row.id.text(), 10.5, names_width - 24),
              {.size = 10.5, .anchor = Anchor::end});
    plot.clip(frame.area);
    if (std::isfinite(row.low) && std::isfinite(row.high))
        plot.line({inside(row.low), y}, {inside(row.high), y}, {Ink::variant, slot}, 3);
    plot.mark({inside(row.ratio), y}, 3.6, slot, false,
              fmt::format("{}: {} ({}–{}), {}", row.id.text(), number(row.ratio), number(row.low),
                          number(row.high), to_string(row.verdict)));
    plot.clip({});
}

}  // namespace

Plot ratio_plot(const compare::Arm& a, const compare::Arm& b, std::span<const compare::Row> rows,
                const ViewWindow& window, std::size_t most_rows) {
    std::vector<const compare::Row*> drawn;
    for (const compare::Row& row : rows)
        if (std::isfinite(row.ratio) && row.ratio > 0) drawn.push_back(&row);
    const std::size_t left_out = drawn.size() - std::min(drawn.size(), most_rows);
    drawn.resize(drawn.size() - left_out);

    Plot plot("comparison", "B against A",
              fmt::format("Ratios of {} rows of {} to {}.", drawn.size(), b.says, a.says));
    plot.heading("B against A");
    plot.text({16, 44}, fitted("A: " + a.says, 11, figure_width - 32), {.ink = Ink::muted});
    plot.text({16, 60}, fitted("B: " + b.says, 11, figure_width - 32), {.ink = Ink::muted});
    if (drawn.empty()) {
        plot.text({16, top + 20}, "No row has a ratio: the table says why.", {.ink = Ink::muted});
        return std::move(plot).finish(figure_width, top + 40);
    }
    const double reach = reach_of(drawn);
    PlotFrame frame{{names_width, top, figure_width - names_width - right_margin,
                     row_height * static_cast<double>(drawn.size())},
                    AxisScale::linear(1 / reach, reach),
                    {},
                    0};
    const Range reached{frame.x.low(), frame.x.high()};
    if (window.x) frame.x = frame.x.part(window.x->low, window.x->high);
    draw_axis(plot, frame, drawn.front()->margin);
    double y = top + row_height / 2;
    for (const compare::Row* row : drawn) {
        draw_row(plot, frame, *row, reached, y);
        y += row_height;
    }
    plot.panel(frame);
    if (left_out > 0)
        plot.text({16, frame.area.bottom() + 52},
                  fmt::format("{} more rows are not drawn; the table has them.", left_out),
                  {.ink = Ink::muted});
    return std::move(plot).finish(figure_width, frame.area.bottom() + (left_out > 0 ? 64 : 46));
}

}  // namespace assay::gui
