#include "suite/report/figures/svg_writer.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "suite/report/markup.hpp"

namespace assay::report {
namespace {

/// One decimal is a tenth of a pixel; "-0.0" would differ between compilers.
std::string px(double value) {
    const double rounded = std::round(value * 10) / 10;
    return fmt::format("{:g}", rounded == 0 ? 0 : rounded);
}

std::string class_name(Paint paint) {
    switch (paint.ink) {
        case Ink::text:
            return "fig-text";
        case Ink::muted:
            return "fig-muted";
        case Ink::grid:
            return "fig-grid";
        case Ink::background:
            return "fig-background";
        case Ink::variant:
            break;
    }
    return fmt::format("fig-{}", paint.slot % palette_size);
}

/// Turns the classes dark where the reader prefers that.
std::string dark_style_sheet() {
    std::string rules;
    const auto rule = [&](Paint paint) {
        rules += fmt::format(".{0}{{fill:{1}}}.{0}-line{{stroke:{2}}}\n", class_name(paint),
                             colour_of(paint, Theme::dark), colour_of(paint, Theme::dark, true));
    };
    for (const Ink ink : {Ink::background, Ink::text, Ink::muted, Ink::grid}) rule({ink});
    for (std::size_t slot = 0; slot < palette_size; ++slot) rule({Ink::variant, slot});
    return "<style>\n@media screen and (prefers-color-scheme: dark) {\n" + rules + "}\n</style>";
}

std::string filled(Paint paint) {
    return fmt::format(R"(class="{}" fill="{}")", class_name(paint),
                       colour_of(paint, Theme::light));
}

std::string stroked(Paint paint, double width, std::string_view dash = "") {
    const std::string dashed = dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", dash);
    return fmt::format(R"(class="{}-line" stroke="{}" stroke-width="{}" fill="none"{})",
                       class_name(paint), colour_of(paint, Theme::light, true), px(width), dashed);
}

std::string listed(const std::vector<Point>& points) {
    std::string list;
    for (const Point& point : points) list += px(point.x) + ',' + px(point.y) + ' ';
    if (!list.empty()) list.pop_back();
    return list;
}

std::string svg(const Polyline& path) {
    if (path.one_line)
        return fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" {}/>)", px(path.points[0].x),
                           px(path.points[0].y), px(path.points[1].x), px(path.points[1].y),
                           stroked(path.paint, path.width, path.dash));
    return fmt::format(R"(<polyline points="{}" stroke-linejoin="round" {}/>)", listed(path.points),
                       stroked(path.paint, path.width, path.dash));
}

std::string svg(const Rectangle& area) {
    const std::string faded =
        area.opacity < 1 ? fmt::format(R"( fill-opacity="{:g}")", area.opacity) : "";
    return fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" {}{})", px(area.corner.x),
                       px(area.corner.y), px(area.width), px(area.height), filled(area.fill),
                       faded) +
           (area.tooltip.empty() ? "/>" : "><title>" + escaped(area.tooltip) + "</title></rect>");
}

std::string svg(const Outline& frame) {
    return fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="{}" {}/>)",
                       px(frame.corner.x), px(frame.corner.y), px(frame.width), px(frame.height),
                       px(frame.radius), stroked(frame.stroke, 1));
}

std::string svg(const Words& words) {
    static constexpr std::array<std::string_view, 3> anchors{"start", "middle", "end"};
    const auto& [at, text, style] = words;
    std::string extra;
    if (style.bold) extra += R"( font-weight="600")";
    if (style.rotate != 0)
        extra += fmt::format(R"svg( transform="rotate({} {} {})")svg", px(style.rotate), px(at.x),
                             px(at.y));
    return fmt::format(R"(<text x="{}" y="{}" font-size="{}" text-anchor="{}" {}{}>{}</text>)",
                       px(at.x), px(at.y), px(style.size),
                       anchors[static_cast<std::size_t>(style.anchor)], filled({style.ink}), extra,
                       escaped(text));
}

std::string svg(const Mark& mark) {
    const Paint own{Ink::variant, mark.slot};
    std::string paint = filled(own);
    if (mark.hollow)
        paint = fmt::format(
            R"(class="fig-background {}-line" fill="{}" stroke="{}" stroke-width="1.6")",
            class_name(own), colour_of({Ink::background}, Theme::light),
            colour_of(own, Theme::light, true));
    const std::string title =
        mark.tooltip.empty() ? "" : "<title>" + escaped(mark.tooltip) + "</title>";
    std::vector<Point> corners = mark_corners(mark.slot);
    if (corners.empty())
        return fmt::format(R"(<circle cx="{}" cy="{}" r="{}" {}>{}</circle>)", px(mark.at.x),
                           px(mark.at.y), px(mark.radius), paint, title);
    for (Point& corner : corners)
        corner = {mark.at.x + corner.x * mark.radius, mark.at.y + corner.y * mark.radius};
    return fmt::format(R"(<polygon points="{}" {}>{}</polygon>)", listed(corners), paint, title);
}

}  // namespace

std::string to_svg(const Plot& plot) {
    std::string out = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
        R"(role="img" aria-labelledby="{2}-title {2}-desc" font-family="system-ui, 'DejaVu Sans', sans-serif">)"
        "\n<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-desc\">{4}</desc>\n{5}\n"
        R"(<rect class="fig-background" width="{0}" height="{1}" fill="#ffffff"/>)"
        "\n",
        px(plot.width()), px(plot.height()), plot.id(), escaped(plot.title()),
        escaped(plot.description()), dark_style_sheet());
    for (const Shape& shape : plot.shapes())
        out += std::visit([](const auto& one) { return svg(one); }, shape) + '\n';
    return out + "</svg>\n";
}

}  // namespace assay::report
