#include "suite/report/figures/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

using Palette = std::array<std::string_view, palette_size>;
constexpr Palette light{"#0072b2", "#d55e00", "#009e73", "#b04a8f",
                        "#c98500", "#3a9bdc", "#7a5c2e", "#555555"};
constexpr Palette dark{"#4da9e8", "#ff8a3d", "#2fc89c", "#e08ac4",
                       "#f0b03c", "#8fcdf7", "#c9a56b", "#b8b8b8"};
constexpr std::array<std::string_view, 4> dashes{"", "6 3", "2 3", "8 3 2 3"};

}  // namespace

std::string_view colour_of(Paint paint, Theme theme, bool of_line) {
    const bool on_dark = theme == Theme::dark;
    switch (paint.ink) {
        case Ink::text:
            return !on_dark ? "#1c2127" : of_line ? "#c6ccd3" : "#e4e7eb";
        case Ink::muted:
            return !on_dark ? "#5a6570" : of_line ? "#7d8691" : "#a3abb5";
        case Ink::grid:
            return on_dark ? "#2c323a" : "#e3e7eb";
        case Ink::background:
            return on_dark ? "#15181d" : "#ffffff";
        case Ink::variant:
            break;
    }
    return (on_dark ? dark : light)[paint.slot % palette_size];
}

std::string_view variant_dash(std::size_t slot) { return dashes[slot % dashes.size()]; }

const std::vector<Point>& mark_corners(std::size_t slot) {
    static const std::vector<Point> circle;
    static const std::array<std::vector<Point>, 5> shapes{{
        {{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}},
        {{0, -1.15}, {1.1, .85}, {-1.1, .85}},
        {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},
        {{0, 1.15}, {1.1, -.85}, {-1.1, -.85}},
        {{-.5, -1.1}, {.5, -1.1}, {1.1, 0}, {.5, 1.1}, {-.5, 1.1}, {-1.1, 0}},
    }};
    return slot == 0 ? circle : shapes[(slot - 1) % shapes.size()];
}

double PlotFrame::px(double value) const {
    return area.left + inset + x.position(value) * (area.width - 2 * inset);
}
double PlotFrame::py(double value) const { return area.bottom() - y.position(value) * area.height; }

double PlotFrame::x_at(double px) const {
    return x.value_at((px - area.left - inset) / (area.width - 2 * inset));
}
double PlotFrame::y_at(double py) const { return y.value_at((area.bottom() - py) / area.height); }

Plot::Plot(std::string id, std::string title, std::string description)
    : id_(std::move(id)), title_(std::move(title)), description_(std::move(description)) {}

void Plot::line(Point from, Point to, Paint paint, double width, std::string_view dash) {
    std::vector<Point> path{from, to};
    if (clip_) {
        auto pieces = clipped(path, *clip_);
        if (pieces.empty()) return;
        path = std::move(pieces.front());
    }
    shapes_.emplace_back(Polyline{std::move(path), paint, width, dash, true});
}

void Plot::polyline(std::vector<Point> points, Paint paint, double width, std::string_view dash) {
    if (clip_)
        for (auto& piece : clipped(points, *clip_))
            shapes_.emplace_back(Polyline{std::move(piece), paint, width, dash});
    else
        shapes_.emplace_back(Polyline{std::move(points), paint, width, dash});
}

void Plot::rectangle(Point corner, double width, double height, Paint fill,
                     std::string_view tooltip, double opacity) {
    if (clip_) {
        const Point end{std::min(corner.x + width, clip_->right()),
                        std::min(corner.y + height, clip_->bottom())};
        corner = {std::max(corner.x, clip_->left), std::max(corner.y, clip_->top)};
        width = end.x - corner.x, height = end.y - corner.y;
        if (width <= 0 || height <= 0) return;
    }
    shapes_.emplace_back(Rectangle{corner, width, height, fill, std::string(tooltip), opacity});
}

void Plot::frame(Point corner, double width, double height, Paint stroke, double radius) {
    shapes_.emplace_back(Outline{corner, width, height, stroke, radius});
}

void Plot::text(Point at, std::string_view text, const TextStyle& style) {
    if (clip_ && !clip_->contains(at)) return;
    shapes_.emplace_back(Words{at, std::string(text), style});
}

void Plot::heading(std::string_view words) {
    constexpr double size = 15, margin = 16, bold_is_wider = 1.1;
    text({margin, 24}, fitted(words, size * bold_is_wider, figure_width - 2 * margin),
         {.size = size, .bold = true});
}

void Plot::mark(Point at, double radius, std::size_t slot, bool hollow, std::string_view tooltip) {
    if (clip_ && !clip_->contains(at)) return;
    shapes_.emplace_back(Mark{at, radius, slot, hollow, std::string(tooltip)});
}

void Plot::cross(Point at, double radius, Paint paint) {
    line({at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}, paint, 2);
    line({at.x - radius, at.y + radius}, {at.x + radius, at.y - radius}, paint, 2);
}

Plot Plot::finish(double width, double height) && {
    width_ = width;
    height_ = height;
    clip_.reset();
    return std::move(*this);
}

namespace {

/// The part of a segment within the area, as shares of its length (Liang and Barsky, 1984).
std::optional<std::pair<double, double>> part_within(Point from, Point to, const PlotArea& area) {
    double begin = 0, end = 1;
    const double dx = to.x - from.x, dy = to.y - from.y;
    if (!std::isfinite(dx) || !std::isfinite(dy)) return std::nullopt;
    for (const auto& [towards, room] : {std::pair{-dx, from.x - area.left},
                                        {dx, area.right() - from.x},
                                        {-dy, from.y - area.top},
                                        {dy, area.bottom() - from.y}}) {
        if (towards == 0) {
            if (room < 0) return std::nullopt;
        } else if (towards < 0) {
            begin = std::max(begin, room / towards);
        } else {
            end = std::min(end, room / towards);
        }
    }
    if (begin > end) return std::nullopt;
    return std::pair{begin, end};
}

}  // namespace

std::vector<std::vector<Point>> clipped(const std::vector<Point>& path, const PlotArea& area) {
    std::vector<std::vector<Point>> pieces;
    bool goes_on = false;
    for (std::size_t i = 1; i < path.size(); ++i) {
        const Point from = path[i - 1], to = path[i];
        const auto part = part_within(from, to, area);
        const auto at = [&](double share) {
            return Point{from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
        };
        if (part) {
            if (!goes_on) pieces.push_back({at(part->first)});
            pieces.back().push_back(part->second == 1 ? to : at(part->second));
        }
        goes_on = part && part->second == 1;
    }
    return pieces;
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
