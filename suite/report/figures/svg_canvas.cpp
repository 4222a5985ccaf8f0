#include "suite/report/figures/svg_canvas.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "suite/report/markup.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

constexpr std::array<std::string_view, palette_size> light{
    "#0072b2", "#d55e00", "#009e73", "#b04a8f", "#c98500", "#3a9bdc", "#7a5c2e", "#555555"};
constexpr std::array<std::string_view, 4> dashes{"", "6 3", "2 3", "8 3 2 3"};

/// Turns the classes dark where the reader prefers that.
constexpr std::string_view dark_style_sheet = R"(<style>
@media screen and (prefers-color-scheme: dark) {
.fig-background{fill:#15181d}.fig-text{fill:#e4e7eb}.fig-muted{fill:#a3abb5}
.fig-text-line{stroke:#c6ccd3}.fig-muted-line{stroke:#7d8691}.fig-grid-line{stroke:#2c323a}.fig-grid{fill:#2c323a}
.fig-background-line{stroke:#15181d}
.fig-0{fill:#4da9e8}.fig-1{fill:#ff8a3d}.fig-2{fill:#2fc89c}.fig-3{fill:#e08ac4}.fig-4{fill:#f0b03c}.fig-5{fill:#8fcdf7}.fig-6{fill:#c9a56b}.fig-7{fill:#b8b8b8}
.fig-0-line{stroke:#4da9e8}.fig-1-line{stroke:#ff8a3d}.fig-2-line{stroke:#2fc89c}.fig-3-line{stroke:#e08ac4}.fig-4-line{stroke:#f0b03c}.fig-5-line{stroke:#8fcdf7}.fig-6-line{stroke:#c9a56b}.fig-7-line{stroke:#b8b8b8}
}
</style>)";

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
        case Ink::variant:
            break;
    }
    return light[paint.slot % light.size()];
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

std::string_view variant_dash(std::size_t slot) { return dashes[slot % dashes.size()]; }

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
    const Paint own{Ink::variant, slot};
    std::string paint = filled(own);
    if (hollow)
        paint = fmt::format(
            R"(class="fig-background {}-line" fill="{}" stroke="{}" stroke-width="1.6")",
            class_name(own), colour({Ink::background}), colour(own));
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
               dark_style_sheet) +
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
