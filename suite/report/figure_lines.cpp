// See figure_lines.hpp.
#include "suite/report/figure_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/report/figure_style.hpp"
#include "suite/report/report.hpp"

namespace assay::report {
namespace {

std::string tooltip(const FigureData& data, const Experiment& experiment,
                    const std::string& variant, double x, const std::string& value) {
    const std::string at =
        data.categories.empty() ? number(x) : data.categories[static_cast<std::size_t>(x)];
    return fmt::format("{}, {} {}: {}", variant, experiment.figure.x, at, value);
}

}  // namespace

void draw_lines(SvgCanvas& canvas, const PlotFrame& frame, const FigurePanel& panel,
                const FigureData& data, const Experiment& experiment) {
    // Backwards, so that the first variant, the system itself, lies on top.
    for (auto series = panel.series.rbegin(); series != panel.series.rend(); ++series) {
        const Paint paint{Ink::series, series->slot};
        std::vector<Point> path;
        for (const FigurePoint& point : series->points)
            path.push_back({frame.px(point.x), frame.py(point.median)});
        if (path.size() > 1) canvas.polyline(path, paint, 1.8, series_dash(series->slot));
        const double radius = path.size() > 40 ? 1.6 : 3.2;
        for (std::size_t i = 0; i < path.size(); ++i) {
            const FigurePoint& point = series->points[i];
            std::string value = number(point.median);
            if (point.high > point.low) {
                const double x = path[i].x;
                for (const double end : {point.low, point.high})
                    canvas.line({x - 3, frame.py(end)}, {x + 3, frame.py(end)}, paint, 1.2);
                canvas.line({x, frame.py(point.low)}, {x, frame.py(point.high)}, paint, 1.2);
                value += fmt::format(" ({}–{}, {} samples)", number(point.low), number(point.high),
                                     point.count);
            }
            canvas.mark(path[i], radius, series->slot, false,
                        tooltip(data, experiment, series->variant, point.x, value));
        }
    }
    for (const FigureSeries& series : panel.series)
        for (const PaperPoint& point : series.paper)
            canvas.mark({frame.px(point.x), frame.py(point.value)}, 5, series.slot, true,
                        tooltip(data, experiment, "paper, " + series.variant, point.x,
                                fmt::format("{} ({}{}{})", number(point.value), point.claim,
                                            point.inputs.empty() ? "" : "; ", point.inputs)));
}

AxisScale x_scale(const FigureData& data) {
    if (!data.categories.empty()) return AxisScale::categories(data.categories.size());
    double low = INFINITY, high = -INFINITY;
    bool whole = true;
    const auto see = [&](double x) {
        low = std::min(low, x);
        high = std::max(high, x);
        whole = whole && x == std::floor(x);
    };
    for (const FigurePanel& panel : data.panels)
        for (const FigureSeries& series : panel.series) {
            for (const FigurePoint& point : series.points) see(point.x);
            for (const PaperPoint& point : series.paper) see(point.x);
        }
    constexpr double grows_by_factors = 50;
    if (low > 0 && high / low >= grows_by_factors) return AxisScale::logarithmic(low, high);
    return AxisScale::linear(low, high, whole);
}

}  // namespace assay::report
