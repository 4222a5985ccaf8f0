// See svg_canvas.hpp.
#include "suite/report/svg_canvas.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "suite/report/figure_style.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/utf8.hpp"

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
        case Ink::series:
            break;
    }
    return fmt::format("fig-{}", paint.slot % palette_size);
}

std::string_view colour(Paint paint) {
    switch (paint.ink) {
        case Ink::text:
            return "#1c2127";
        case Ink::muted:
            return "#5a6570";
        case Ink::grid:
            return "#e3e7eb";
        case Ink::background:
            return "#ffffff";
        case Ink::series:
            break;
    }
    return series_colour(paint.slot);
}

std::string filled(Paint paint) {
    return fmt::format(R"(class="{}" fill="{}")", class_name(paint), colour(paint));
}

std::string stroked(Paint paint, double width, std::string_view dash = "") {
    const std::string dashed = dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", dash);
    return fmt::format(R"(class="{}-line" stroke="{}" stroke-width="{}" fill="none"{})",
                       class_name(paint), colour(paint), px(width), dashed);
}

/// Corners of the mark shapes, in units of the radius; the first shape is a circle.
const std::vector<Point>& corners(std::size_t slot) {
    static const std::array<std::vector<Point>, 5> shapes{{
        {{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}},
        {{0, -1.15}, {1.1, .85}, {-1.1, .85}},
        {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},
        {{0, 1.15}, {1.1, -.85}, {-1.1, -.85}},
        {{-.5, -1.1}, {.5, -1.1}, {1.1, 0}, {.5, 1.1}, {-.5, 1.1}, {-1.1, 0}},
    }};
    return shapes[(slot - 1) % shapes.size()];
}

}  // namespace

SvgCanvas::SvgCanvas(std::string id, std::string title, std::string description)
    : id_(std::move(id)), title_(std::move(title)), description_(std::move(description)) {}

void SvgCanvas::line(Point from, Point to, Paint paint, double width, std::string_view dash) {
    body_ += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" {}/>)", px(from.x), px(from.y),
                         px(to.x), px(to.y), stroked(paint, width, dash)) +
             '\n';
}

void SvgCanvas::polyline(const std::vector<Point>& points, Paint paint, double width,
                         std::string_view dash) {
    std::string list;
    for (const Point& point : points) list += px(point.x) + ',' + px(point.y) + ' ';
    if (!list.empty()) list.pop_back();
    body_ += fmt::format(R"(<polyline points="{}" stroke-linejoin="round" {}/>)", list,
                         stroked(paint, width, dash)) +
             '\n';
}

void SvgCanvas::rectangle(Point corner, double width, double height, Paint fill,
                          std::string_view tooltip, double opacity) {
    const std::string faded = opacity < 1 ? fmt::format(R"( fill-opacity="{:g}")", opacity) : "";
    body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" {}{})", px(corner.x),
                         px(corner.y), px(width), px(height), filled(fill), faded);
    body_ += tooltip.empty() ? "/>\n" : "><title>" + escaped(tooltip) + "</title></rect>\n";
}

void SvgCanvas::frame(Point corner, double width, double height, Paint stroke, double radius) {
    body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="{}" {}/>)", px(corner.x),
                         px(corner.y), px(width), px(height), px(radius), stroked(stroke, 1)) +
             '\n';
}

void SvgCanvas::text(Point at, std::string_view text, const TextStyle& style) {
    static constexpr std::array<std::string_view, 3> anchors{"start", "middle", "end"};
    std::string extra;
    if (style.bold) extra += R"( font-weight="600")";
    if (style.rotate != 0)
        extra += fmt::format(R"svg( transform="rotate({} {} {})")svg", px(style.rotate), px(at.x),
                             px(at.y));
    body_ += fmt::format(R"(<text x="{}" y="{}" font-size="{}" text-anchor="{}" {}{}>{}</text>)",
                         px(at.x), px(at.y), px(style.size),
                         anchors[static_cast<std::size_t>(style.anchor)], filled({style.ink}),
                         extra, escaped(text)) +
             '\n';
}

void SvgCanvas::mark(Point at, double radius, std::size_t slot, bool hollow,
                     std::string_view tooltip) {
    const Paint series{Ink::series, slot};
    std::string paint = filled(series);
    if (hollow)
        paint = fmt::format(
            R"(class="fig-background {}-line" fill="{}" stroke="{}" stroke-width="1.6")",
            class_name(series), colour({Ink::background}), colour(series));
    const std::string title = tooltip.empty() ? "" : "<title>" + escaped(tooltip) + "</title>";
    if (slot == 0) {
        body_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}" {}>{}</circle>)", px(at.x), px(at.y),
                             px(radius), paint, title) +
                 '\n';
        return;
    }
    std::string list;
    for (const Point& corner : corners(slot))
        list += px(at.x + corner.x * radius) + ',' + px(at.y + corner.y * radius) + ' ';
    list.pop_back();
    body_ += fmt::format(R"(<polygon points="{}" {}>{}</polygon>)", list, paint, title) + '\n';
}

void SvgCanvas::cross(Point at, double radius, Paint paint) {
    line({at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}, paint, 2);
    line({at.x - radius, at.y + radius}, {at.x + radius, at.y - radius}, paint, 2);
}

std::string SvgCanvas::finish(double width, double height) && {
    return fmt::format(
               R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
               R"(role="img" aria-labelledby="{2}-title {2}-desc" font-family="system-ui, 'DejaVu Sans', sans-serif">)"
               "\n<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-desc\">{4}</desc>\n{5}\n"
               R"(<rect class="fig-background" width="{0}" height="{1}" fill="#ffffff"/>)"
               "\n",
               px(width), px(height), id_, escaped(title_), escaped(description_),
               figure_style_sheet()) +
           body_ + "</svg>\n";
}

double text_width(std::string_view text, double size) {
    double ems = 0;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point(text, at);
        const std::string_view glyph = text.substr(at, c.bytes);
        at += c.bytes;
        if (c.value < 0x80 && std::string_view("iljtfI.,:;'|!()[] /").find(glyph) != glyph.npos)
            ems += 0.36;
        else if (c.value < 0x80 && std::string_view("mwMW%@").find(glyph) != glyph.npos)
            ems += 0.92;
        else
            ems += 0.62 * static_cast<double>(display_width(glyph));
    }
    return ems * size;
}

std::string fitted(std::string_view text, double size, double width) {
    if (text_width(text, size) <= width) return std::string(text);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = code_point(text, at).bytes;
        if (text_width(out + std::string(text.substr(at, bytes)) + "…", size) > width) break;
        out += text.substr(at, bytes);
        at += bytes;
    }
    return out + "…";
}

}  // namespace assay::report
