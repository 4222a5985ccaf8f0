#include "suite/report/figures/figure_panel.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "suite/report/figures/plot.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/sample_groups.hpp"

namespace assay::report {
namespace {

constexpr double tick_size = 10.5;
constexpr double badge_size = 9.5;
using Anchor = TextStyle::Anchor;

double widest(const std::vector<std::string>& texts, double size) {
    double width = 0;
    for (const std::string& text : texts) width = std::max(width, text_width(text, size));
    return width;
}

bool must_slant(const std::vector<std::string>& categories, double width) {
    return widest(categories, tick_size) + 4 > width / static_cast<double>(categories.size());
}

/// "model · order" and "step": what of the title goes into the width, in whole parts, and the rest.
std::pair<std::string, std::string> split_title(const std::string& title, double size,
                                                double width) {
    constexpr std::string_view between = " · ";
    if (text_width(title, size) <= width) return {title, ""};
    for (std::size_t at = title.rfind(between); at != std::string::npos && at > 0;
         at = title.rfind(between, at - 1))
        if (text_width(title.substr(0, at), size) <= width)
            return {title.substr(0, at), title.substr(at + between.size())};
    return {title, ""};
}

constexpr double longest_slanted = 110;  // pixels along the text; longer names are cut

}  // namespace

std::size_t panel_columns(std::size_t panels, std::size_t last_split) {
    if (panels <= 2) return std::max<std::size_t>(panels, 1);
    if (last_split == 2) return panels >= 8 && panels % 4 == 0 ? 4 : 2;
    if (last_split == 3 || last_split == 4) return last_split == 4 && panels == 4 ? 2 : last_split;
    return panels <= 4 ? 2 : panels <= 9 ? 3 : 4;
}

HeadGap draw_panel_head(Plot& plot, const PlotArea& area, const std::string& title,
                        const std::string& badge) {
    constexpr double wider_in_bold = 1.1;
    const double badge_width = text_width(badge, badge_size) + 8;
    const double badge_left = area.right() - badge_width;
    plot.frame({badge_left, area.top - 19}, badge_width, 14, {Ink::muted}, 3);
    plot.text({area.right() - badge_width / 2, area.top - 8.6}, badge,
              {.size = badge_size, .anchor = Anchor::middle, .ink = Ink::muted});
    if (text_width(title, 11) <= area.width - badge_width - 8) {
        plot.text({area.left, area.top - 8}, title, {.size = 11, .bold = true});
        return {area.left + wider_in_bold * text_width(title, 11), badge_left};
    }
    // A line of its own, from where the tick labels begin, and what is left beside the badge.
    const double first_left = area.left - 30;
    const auto [first, rest] = split_title(title, 10, area.width + 38);
    plot.text({first_left, area.top - 24}, fitted(first, 10, area.width + 38),
              {.size = 10, .bold = true});
    if (rest.empty()) return {area.left, badge_left};
    plot.text({first_left, area.top - 11},
              fitted(rest, 10 * wider_in_bold, area.width + 30 - badge_width - 8),
              {.size = 10, .bold = true});
    return {std::min(badge_left, first_left + wider_in_bold * text_width(rest, 10)), badge_left};
}

void draw_y_axis(Plot& plot, const PlotFrame& frame) {
    constexpr double line = 11;
    double free_below = INFINITY;  // labels that would touch are left out, their lines stay
    for (const double tick : frame.y.ticks()) {
        const double y = frame.py(tick);
        plot.line({frame.area.left, y}, {frame.area.right(), y}, {Ink::grid});
        if (y > free_below) continue;
        free_below = y - line;
        plot.text({frame.area.left - 5, y + 3.6}, frame.y.label(tick),
                  {.size = tick_size, .anchor = Anchor::end, .ink = Ink::muted});
    }
    plot.line({frame.area.left, frame.area.bottom()}, {frame.area.right(), frame.area.bottom()},
              {Ink::muted});
}

void draw_numeric_x_axis(Plot& plot, const PlotFrame& frame) {
    double free_from = 0;  // labels that would touch are left out, their ticks stay
    for (const double tick : frame.x.ticks()) {
        const double x = frame.px(tick);
        const std::string label = frame.x.label(tick);
        const double half = text_width(label, tick_size) / 2;
        plot.line({x, frame.area.bottom()}, {x, frame.area.bottom() + 4}, {Ink::muted});
        if (x - half < free_from) continue;
        free_from = x + half + 4;
        plot.text({x, frame.area.bottom() + 15}, label,
                  {.size = tick_size, .anchor = Anchor::middle, .ink = Ink::muted});
    }
}

double category_height(const std::vector<std::string>& categories, double width) {
    if (categories.empty() || !must_slant(categories, width)) return 20;
    return 16 + std::min(widest(categories, tick_size), longest_slanted) * 0.6;
}

void draw_category_axis(Plot& plot, const PlotFrame& frame,
                        const std::vector<std::string>& categories) {
    const double share = frame.px(1) - frame.px(0);
    const bool slanted =
        must_slant(categories, share * static_cast<double>(categories.size()) * (1 + 1e-12));
    plot.clip(PlotArea{frame.area.left, 0, frame.area.width, 1e6});
    for (std::size_t i = 0; i < categories.size(); ++i) {
        const double x = frame.px(static_cast<double>(i)), y = frame.area.bottom();
        if (slanted)  // whose upper left corner leans out by half a letter's height
            plot.text({x + 3, y + 12},
                      fitted(categories[i], tick_size,
                             std::min(longest_slanted, (x + 3 - tick_size / 2) / 0.82)),
                      {.size = tick_size, .anchor = Anchor::end, .ink = Ink::muted, .rotate = -35});
        else
            plot.text({x, y + 15}, categories[i],
                      {.size = tick_size, .anchor = Anchor::middle, .ink = Ink::muted});
    }
    plot.clip({});
}

std::string paper_legend(const FigureData& data) {
    const std::string words = "hollow: the paper’s value";
    return data.paper_inputs.empty() ? words : words + " (" + data.paper_inputs + ")";
}

double draw_head(Plot& plot, const Experiment& experiment, const FigureData& data) {
    double y = 24;
    plot.heading(experiment.title);
    if (!data.fixed.empty()) {
        y += 18;
        plot.text({16, y}, fitted(data.fixed, 11, figure_width - 32),
                  {.size = 11, .ink = Ink::muted});
    }
    const bool lines = data.categories.empty();
    double x = 16;
    y += 22;
    const auto entry = [&](const std::string& name, auto draw) {
        const std::string shown = fitted(name, 11.5, figure_width - 80);
        const double width = 28 + text_width(shown, 11.5) + 18;
        if (x + width > figure_width - 16 && x > 16) {
            x = 16;
            y += 18;
        }
        draw(Point{x + 11, y - 4});
        plot.text({x + 28, y}, shown, {.size = 11.5});
        x += width;
    };
    if (!data.shares_variants)
        for (std::size_t i = 0; i < data.variants.size(); ++i) {
            const std::size_t slot = data.variant_slots[i];
            entry(data.variants[i], [&](Point at) {
                if (lines)
                    plot.line({at.x - 11, at.y}, {at.x + 11, at.y}, {Ink::variant, slot}, 2,
                              variant_dash(slot));
                if (lines)
                    plot.mark(at, 3.6, slot, false, "");
                else
                    plot.rectangle({at.x - 8, at.y - 5}, 16, 10, {Ink::variant, slot});
            });
        }
    if (data.has_paper) entry(paper_legend(data), [&](Point at) { plot.mark(at, 5, 0, true, ""); });
    return x > 16 ? y + 12 : y - 8;
}

Plot empty_figure(const Experiment& experiment, const std::string& sentence) {
    Plot plot(as_id(experiment.id), experiment.title, sentence);
    plot.heading(experiment.title);
    plot.frame({16, 40}, figure_width - 32, 80, {Ink::grid}, 6);
    plot.text({figure_width / 2, 84}, sentence,
              {.size = 12, .anchor = Anchor::middle, .ink = Ink::muted});
    return std::move(plot).finish(figure_width, 136);
}

AxisScale y_scale(const Experiment& experiment, const std::vector<FigurePanel>& panels) {
    double low = INFINITY, high = -INFINITY;
    for (const FigurePanel& panel : panels)
        for (const FigureCurve& curve : panel.curves) {
            for (const FigurePoint& point : curve.points) {
                low = std::min(low, point.low);
                high = std::max(high, point.high);
            }
            for (const PaperPoint& point : curve.paper) {
                low = std::min(low, point.value);
                high = std::max(high, point.value);
            }
        }
    const MetricSpec* metric = experiment.metric(experiment.figure.metric);
    if (metric && metric->unit == "probability" && low >= 0 && high <= 1)
        return AxisScale::linear(0, 1);
    const bool bars = experiment.figure.kind == Figure::Kind::bars;
    if (experiment.figure.log_y && low > 0 && !bars) return AxisScale::logarithmic(low, high);
    if (bars || (low >= 0 && low < high / 2)) {
        low = std::min(low, 0.0);
        high = std::max(high, 0.0);
    }
    return AxisScale::linear(low, high, metric && metric->unit == "count");
}

}  // namespace assay::report
