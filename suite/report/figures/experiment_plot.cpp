// Figures of lines (a curve per variant over a numeric or categorical x) and of bars (a cluster per
// category, a bar per variant): a head, then a grid of panels with common scales.
#include "suite/report/figures/experiment_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/report/figures/figure_panel.hpp"
#include "suite/report/figures/svg_writer.hpp"
#include "suite/report/figures/timeline.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {
namespace {

std::string tooltip(const FigureData& data, const Experiment& experiment,
                    const std::string& variant, double x, const std::string& value) {
    const std::string at =
        data.categories.empty() ? number(x) : data.categories[static_cast<std::size_t>(x)];
    return fmt::format("{}, {} {}: {}", variant, experiment.figure.x, at, value);
}

void draw_lines(Plot& plot, const PlotFrame& frame, const FigurePanel& panel,
                const FigureData& data, const Experiment& experiment) {
    // Backwards, so that the first variant, the system itself, lies on top.
    for (auto curve = panel.curves.rbegin(); curve != panel.curves.rend(); ++curve) {
        const Paint paint{Ink::variant, curve->slot};
        std::vector<Point> path;
        for (const FigurePoint& point : curve->points)
            path.push_back({frame.px(point.drawn_at), frame.py(point.median)});
        if (path.size() > 1) plot.polyline(path, paint, 1.8, variant_dash(curve->slot));
        const double radius = path.size() > 40 ? 1.6 : 3.2;
        for (std::size_t i = 0; i < path.size(); ++i) {
            const FigurePoint& point = curve->points[i];
            std::string value = number(point.median);
            if (point.high > point.low) {
                const double x = path[i].x;
                for (const double end : {point.low, point.high})
                    plot.line({x - 3, frame.py(end)}, {x + 3, frame.py(end)}, paint, 1.2);
                plot.line({x, frame.py(point.low)}, {x, frame.py(point.high)}, paint, 1.2);
                value += fmt::format(" ({}–{}, {} samples)", number(point.low), number(point.high),
                                     point.count);
            }
            plot.mark(path[i], radius, curve->slot, false,
                      tooltip(data, experiment, curve->variant, point.x, value));
        }
    }
    for (const FigureCurve& curve : panel.curves)
        for (const PaperPoint& point : curve.paper)
            plot.mark({frame.px(point.x), frame.py(point.value)}, 5, curve.slot, true,
                      tooltip(data, experiment, "paper, " + curve.variant, point.x,
                              fmt::format("{} ({}{}{})", number(point.value), point.claim,
                                          point.inputs.empty() ? "" : "; ", point.inputs)));
}

/// x over all panels, so that panels compare; logarithmic where the values grow that way.
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
        for (const FigureCurve& curve : panel.curves) {
            for (const FigurePoint& point : curve.points) see(point.drawn_at);
            for (const PaperPoint& point : curve.paper) see(point.x);
        }
    constexpr double grows_by_factors = 50;
    if (low > 0 && high / low >= grows_by_factors) return AxisScale::logarithmic(low, high);
    return AxisScale::linear(low, high, whole);
}

void draw_bars(Plot& plot, const PlotFrame& frame, const HeadGap& head, const FigurePanel& panel,
               const FigureData& data, const Experiment& experiment) {
    const double share = frame.px(1) - frame.px(0);
    const std::size_t side_by_side =
        data.shares_variants ? 1 : std::max<std::size_t>(data.variants.size(), 1);
    const double cluster = share * 0.72;
    const double width = std::min(cluster / static_cast<double>(side_by_side), 56.0);
    for (const FigureCurve& curve : panel.curves) {
        const auto at = std::find(data.variants.begin(), data.variants.end(), curve.variant);
        const double offset = data.shares_variants
                                  ? 0
                                  : (static_cast<double>(at - data.variants.begin()) -
                                     (static_cast<double>(side_by_side) - 1) / 2) *
                                        width;
        for (const FigurePoint& point : curve.points) {
            const double middle = frame.px(point.x) + offset;
            const double top = frame.py(std::max(point.median, 0.0));
            const double bottom = frame.py(std::min(point.median, 0.0));
            const std::string category = data.categories[static_cast<std::size_t>(point.x)];
            const std::string label =
                data.shares_variants ? category : curve.variant + ", " + category;
            plot.rectangle({middle - width * 0.45, top}, width * 0.9, bottom - top,
                           {Ink::variant, curve.slot},
                           fmt::format("{}: {}", label, number(point.median)));
            if (point.high > point.low) {
                plot.line({middle, frame.py(point.low)}, {middle, frame.py(point.high)},
                          {Ink::text}, 1.2);
                for (const double end : {point.low, point.high})
                    plot.line({middle - 3, frame.py(end)}, {middle + 3, frame.py(end)}, {Ink::text},
                              1.2);
            }
            const double label_y = frame.py(std::max(point.high, 0.0)) - 4;
            const std::string value = number(point.median);
            const bool paper_there =
                std::any_of(curve.paper.begin(), curve.paper.end(), [&](const PaperPoint& paper) {
                    return paper.x == point.x && std::abs(frame.py(paper.value) - label_y) < 12;
                });
            const double value_width = text_width(value, 10);
            constexpr double label_height = 8;
            const bool head_there =
                label_y - label_height < frame.area.top - 4 &&
                (middle - value_width / 2 < head.from || middle + value_width / 2 > head.to);
            if (!paper_there && !head_there && value_width < width * 1.05)
                plot.text({middle, label_y}, value,
                          {.size = 10, .anchor = TextStyle::Anchor::middle});
        }
        for (const PaperPoint& point : curve.paper)
            plot.mark(
                {frame.px(point.x) + offset, frame.py(point.value)}, 5, curve.slot, true,
                fmt::format("paper, {}: {} ({}{}{})", experiment.figure.metric, number(point.value),
                            point.claim, point.inputs.empty() ? "" : "; ", point.inputs));
    }
}

constexpr double page_left = 62, page_right = 16;
constexpr double between_columns = 44, panel_head = 40;
constexpr std::size_t most_panels = 48;  ///< beyond, the table serves better than stamps

std::string described(const Experiment& experiment, const FigureData& data) {
    const Figure& figure = experiment.figure;
    return fmt::format("{} over {} in {} panel{}, for {}{}.",
                       figure.y_title.empty() ? figure.metric : figure.y_title,
                       data.shares_variants     ? "the variants"
                       : figure.x_title.empty() ? figure.x
                                                : figure.x_title,
                       data.panels.size(), data.panels.size() == 1 ? "" : "s",
                       fmt::join(data.variants, ", "),
                       data.has_paper ? "; " + paper_legend(data) : "");
}

Plot panels_figure(const Experiment& experiment, FigureData data, const ViewWindow& window) {
    const Figure& figure = experiment.figure;
    Plot plot(as_id(experiment.id), experiment.title, described(experiment, data));
    double top = draw_head(plot, experiment, data);
    const std::size_t left_out = data.panels.size() - std::min(data.panels.size(), most_panels);
    data.panels.resize(data.panels.size() - left_out);

    const std::size_t columns = panel_columns(data.panels.size(), data.last_split);
    const std::size_t rows = (data.panels.size() + columns - 1) / columns;
    const double width = (figure_width - page_left - page_right -
                          between_columns * static_cast<double>(columns - 1)) /
                         static_cast<double>(columns);
    const double height = std::clamp(width * 0.62, 120.0, 270.0);
    const double below = data.categories.empty() ? 20 : category_height(data.categories, width);
    AxisScale x = x_scale(data), y = y_scale(experiment, data.panels);
    if (window.x) x = x.part(window.x->low, window.x->high);
    if (window.y) y = y.part(window.y->low, window.y->high);
    for (std::size_t i = 0; i < data.panels.size(); ++i) {
        const double column = static_cast<double>(i % columns),
                     row = static_cast<double>(i / columns);
        const PlotFrame frame{
            {page_left + column * (width + between_columns),
             top + panel_head + row * (height + below + panel_head + 6), width, height},
            x,
            y,
            data.categories.empty() ? 8.0 : 0.0};
        const HeadGap head =
            draw_panel_head(plot, frame.area, data.panels[i].title, data.panels[i].badge);
        draw_y_axis(plot, frame);
        if (data.categories.empty())
            draw_numeric_x_axis(plot, frame);
        else
            draw_category_axis(plot, frame, data.categories);
        if (!window.whole()) plot.clip(frame.area);
        if (figure.kind == Figure::Kind::bars)
            draw_bars(plot, frame, head, data.panels[i], data, experiment);
        else
            draw_lines(plot, frame, data.panels[i], data, experiment);
        plot.clip({});
        plot.panel(frame);
    }
    const double bottom = top + static_cast<double>(rows) * (height + below + panel_head + 6);
    const std::string y_title = figure.y_title.empty() ? figure.metric : figure.y_title;
    plot.text({16, (top + panel_head + bottom - below) / 2},
              fitted(y_title, 11.5, bottom - top - panel_head),
              {.size = 11.5, .anchor = TextStyle::Anchor::middle, .rotate = -90});
    const std::string x_title = figure.x_title.empty() ? figure.x : figure.x_title;
    plot.text({(page_left + figure_width - page_right) / 2, bottom + 12}, x_title,
              {.size = 11.5, .anchor = TextStyle::Anchor::middle});
    if (left_out > 0)
        plot.text({page_left, bottom + 30},
                  fmt::format("{} more panels are not drawn; the table has them all. Narrow the "
                              "sweep with -a axis=values.",
                              left_out),
                  {.size = 11, .ink = Ink::muted});
    return std::move(plot).finish(figure_width, bottom + (left_out > 0 ? 42 : 24));
}

}  // namespace

Plot data_plot(const Experiment& experiment, const FigureData& data, const ViewWindow& window) {
    if (data.panels.empty())
        return empty_figure(experiment, "No samples yet: assay run " + experiment.id);
    return panels_figure(experiment, data, window);
}

Plot experiment_plot(const Experiment& experiment, std::span<const store::Sample> samples,
                     std::span<const Claim> claims, std::span<const EventKind> kinds,
                     const ViewWindow& window) {
    if (experiment.figure.kind == Figure::Kind::timeline)
        return timeline_figure(experiment, samples, kinds, window);
    return data_plot(experiment, figure_data(experiment, samples, claims), window);
}

std::string svg_figure(const Experiment& experiment, std::span<const store::Sample> samples,
                       std::span<const Claim> claims, std::span<const EventKind> kinds) {
    return to_svg(experiment_plot(experiment, samples, claims, kinds));
}

}  // namespace assay::report
