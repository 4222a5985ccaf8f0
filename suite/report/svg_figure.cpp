// One figure from its data: head, then a grid of panels with common scales.
#include <fmt/format.h>

#include <algorithm>

#include "suite/report/figure_bars.hpp"
#include "suite/report/figure_lines.hpp"
#include "suite/report/figure_panel.hpp"
#include "suite/report/figure_style.hpp"
#include "suite/report/figure_timeline.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/report.hpp"

namespace assay::report {
namespace {

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

std::string panels_figure(const Experiment& experiment, FigureData data) {
    const Figure& figure = experiment.figure;
    SvgCanvas canvas(as_id(experiment.id), experiment.title, described(experiment, data));
    double top = draw_head(canvas, experiment, data);
    const std::size_t left_out = data.panels.size() - std::min(data.panels.size(), most_panels);
    data.panels.resize(data.panels.size() - left_out);

    const std::size_t columns = panel_columns(data.panels.size(), data.last_split);
    const std::size_t rows = (data.panels.size() + columns - 1) / columns;
    const double width = (figure_width - page_left - page_right -
                          between_columns * static_cast<double>(columns - 1)) /
                         static_cast<double>(columns);
    const double height = std::clamp(width * 0.62, 120.0, 270.0);
    const double below = data.categories.empty() ? 20 : category_height(data.categories, width);
    const AxisScale x = x_scale(data), y = y_scale(experiment, data.panels);
    for (std::size_t i = 0; i < data.panels.size(); ++i) {
        const double column = static_cast<double>(i % columns),
                     row = static_cast<double>(i / columns);
        const PlotFrame frame{
            {page_left + column * (width + between_columns),
             top + panel_head + row * (height + below + panel_head + 6), width, height},
            x,
            y,
            data.categories.empty() ? 8.0 : 0.0};
        draw_panel_head(canvas, frame.area, data.panels[i].title, data.panels[i].badge);
        draw_y_axis(canvas, frame);
        if (data.categories.empty())
            draw_numeric_x_axis(canvas, frame);
        else
            draw_category_axis(canvas, frame, data.categories);
        if (figure.kind == Figure::Kind::bars)
            draw_bars(canvas, frame, data.panels[i], data, experiment);
        else
            draw_lines(canvas, frame, data.panels[i], data, experiment);
    }
    const double bottom = top + static_cast<double>(rows) * (height + below + panel_head + 6);
    const std::string y_title = figure.y_title.empty() ? figure.metric : figure.y_title;
    canvas.text({16, (top + panel_head + bottom - below) / 2},
                fitted(y_title, 11.5, bottom - top - panel_head),
                {.size = 11.5, .anchor = TextStyle::Anchor::middle, .rotate = -90});
    const std::string x_title = figure.x_title.empty() ? figure.x : figure.x_title;
    canvas.text({(page_left + figure_width - page_right) / 2, bottom + 12}, x_title,
                {.size = 11.5, .anchor = TextStyle::Anchor::middle});
    if (left_out > 0)
        canvas.text({page_left, bottom + 30},
                    fmt::format("{} more panels are not drawn; the table has them all. Narrow the "
                                "sweep with -a axis=values.",
                                left_out),
                    {.size = 11, .ink = Ink::muted});
    return std::move(canvas).finish(figure_width, bottom + (left_out > 0 ? 42 : 24));
}

}  // namespace

std::string svg_figure(const Experiment& experiment, std::span<const store::Sample> samples,
                       std::span<const Claim> claims) {
    if (experiment.figure.kind == Figure::Kind::timeline)
        return timeline_figure(experiment, samples);
    FigureData data = figure_data(experiment, samples, claims);
    if (data.panels.empty())
        return empty_figure(experiment, "No samples yet: assay run " + experiment.id);
    return panels_figure(experiment, std::move(data));
}

}  // namespace assay::report
