// See figure_bars.hpp.
#include "suite/report/figure_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/report/report.hpp"

namespace assay::report {

void draw_bars(SvgCanvas& canvas, const PlotFrame& frame, const FigurePanel& panel,
               const FigureData& data, const Experiment& experiment) {
    const double share = frame.area.width / static_cast<double>(data.categories.size());
    const std::size_t side_by_side =
        data.shares_variants ? 1 : std::max<std::size_t>(data.variants.size(), 1);
    const double cluster = share * 0.72;
    const double width = std::min(cluster / static_cast<double>(side_by_side), 56.0);
    for (const FigureSeries& series : panel.series) {
        const auto at = std::find(data.variants.begin(), data.variants.end(), series.variant);
        const double offset = data.shares_variants
                                  ? 0
                                  : (static_cast<double>(at - data.variants.begin()) -
                                     (static_cast<double>(side_by_side) - 1) / 2) *
                                        width;
        for (const FigurePoint& point : series.points) {
            const double middle = frame.px(point.x) + offset;
            const double top = frame.py(std::max(point.median, 0.0));
            const double bottom = frame.py(std::min(point.median, 0.0));
            const std::string category = data.categories[static_cast<std::size_t>(point.x)];
            const std::string label =
                data.shares_variants ? category : series.variant + ", " + category;
            canvas.rectangle({middle - width * 0.45, top}, width * 0.9, bottom - top,
                             {Ink::series, series.slot},
                             fmt::format("{}: {}", label, number(point.median)));
            if (point.high > point.low) {
                canvas.line({middle, frame.py(point.low)}, {middle, frame.py(point.high)},
                            {Ink::text}, 1.2);
                for (const double end : {point.low, point.high})
                    canvas.line({middle - 3, frame.py(end)}, {middle + 3, frame.py(end)},
                                {Ink::text}, 1.2);
            }
            const double label_y = frame.py(std::max(point.high, 0.0)) - 4;
            const std::string value = number(point.median);
            const bool paper_there =
                std::any_of(series.paper.begin(), series.paper.end(), [&](const PaperPoint& paper) {
                    return paper.x == point.x && std::abs(frame.py(paper.value) - label_y) < 12;
                });
            if (!paper_there && text_width(value, 10) < width * 1.05)
                canvas.text({middle, label_y}, value,
                            {.size = 10, .anchor = TextStyle::Anchor::middle});
        }
        for (const PaperPoint& point : series.paper)
            canvas.mark(
                {frame.px(point.x) + offset, frame.py(point.value)}, 5, series.slot, true,
                fmt::format("paper, {}: {} ({}{}{})", experiment.figure.metric, number(point.value),
                            point.claim, point.inputs.empty() ? "" : "; ", point.inputs));
    }
}

}  // namespace assay::report
