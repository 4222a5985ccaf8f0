// A figure before anybody paints it: shapes on a page, each with its ink and the words that explain
// it, and the panels with their scales. The SVG writer and the window paint the same plot.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "suite/report/figures/axis_scale.hpp"

namespace assay::report {

/// Eight colours that people with the common kinds of colour blindness can tell apart (after Okabe
/// and Ito, two of them darkened for contrast on white). A ninth variant starts over, with other
/// marks.
inline constexpr std::size_t palette_size = 8;

inline constexpr double figure_width = 800;

/// Pixels from the upper left corner.
struct Point {
    double x = 0, y = 0;
};

/// Who paints: text and lines of the frame, or one of the colours of variants.
enum class Ink { text, muted, grid, background, variant };

struct Paint {
    Ink ink = Ink::text;
    std::size_t slot = 0;  ///< with Ink::variant: which colour
};

enum class Theme { light, dark };
/// "#rrggbb"; of lines, in the dark theme, a shade apart from that of areas and text.
std::string_view colour_of(Paint, Theme, bool of_line = false);

/// Lengths of dashes and of the gaps between them in pixels, "6 3"; the first variant's is solid:
/// empty.
std::string_view variant_dash(std::size_t slot);

struct TextStyle {
    double size = 11;
    enum class Anchor { start, middle, end } anchor = Anchor::start;
    Ink ink = Ink::text;
    bool bold = false;
    double rotate = 0;  ///< degrees, around the anchor
};

// ---- shapes -------------------------------------------------------------------------------------
struct Polyline {
    std::vector<Point> points;
    Paint paint;
    double width = 1;
    std::string_view dash;
    bool one_line = false;  ///< from one point to another
};
struct Rectangle {
    Point corner;
    double width = 0, height = 0;
    Paint fill;
    std::string tooltip;
    double opacity = 1;
};
struct Outline {
    Point corner;
    double width = 0, height = 0;
    Paint stroke;
    double radius = 0;
};
struct Words {
    Point at;
    std::string text;
    TextStyle style;
};
struct Mark {
    Point at;
    double radius = 0;
    std::size_t slot = 0;  ///< of colour and shape
    bool hollow = false;
    std::string tooltip;
};
using Shape = std::variant<Polyline, Rectangle, Outline, Words, Mark>;

/// Corners of the shape of a slot's marks, in units of the radius; none: a circle.
const std::vector<Point>& mark_corners(std::size_t slot);

// ---- the page -----------------------------------------------------------------------------------
/// The plotting area of one panel.
struct PlotArea {
    double left = 0, top = 0, width = 0, height = 0;
    double bottom() const { return top + height; }
    double right() const { return left + width; }
    bool contains(Point at) const {
        return left <= at.x && at.x <= right() && top <= at.y && at.y <= bottom();
    }
};

/// One panel's area with its scales.
struct PlotFrame {
    PlotArea area;
    AxisScale x, y;    ///< y without ticks: places in it are not values
    double inset = 0;  ///< room between the frame and the ends of x, so that marks are whole
    double x_at(double px) const;  ///< the value there
    double y_at(double py) const;
    double px(double x_value) const;
    double py(double y_value) const;
};

class Plot {
  public:
    /// `id` is unique within a page; title and description are for those who cannot see the
    /// picture.
    Plot(std::string id, std::string title, std::string description);

    /// From here on shapes are cut at the edges of the area, and what lies outside is left out;
    /// nothing: no longer.
    void clip(std::optional<PlotArea> area) { clip_ = area; }

    // In the order in which they are painted.
    void line(Point from, Point to, Paint, double width = 1, std::string_view dash = "");
    void polyline(std::vector<Point>, Paint, double width, std::string_view dash = "");
    void rectangle(Point corner, double width, double height, Paint fill,
                   std::string_view tooltip = "", double opacity = 1);
    void frame(Point corner, double width, double height, Paint stroke, double radius = 0);
    void text(Point, std::string_view, const TextStyle& = {});
    /// What the whole figure is called, in its upper left corner; cut where it is too long.
    void heading(std::string_view);
    /// A mark whose shape goes with the colour's slot, for those who cannot tell the colours.
    void mark(Point, double radius, std::size_t slot, bool hollow, std::string_view tooltip);
    void cross(Point, double radius, Paint);
    /// What stands for values here, for those who ask what is under the pointer.
    void panel(const PlotFrame& frame) { panels_.push_back(frame); }

    /// The plot of this size in pixels; this one is spent.
    Plot finish(double width, double height) &&;

    const std::string& id() const { return id_; }
    const std::string& title() const { return title_; }
    const std::string& description() const { return description_; }
    const std::vector<Shape>& shapes() const { return shapes_; }
    const std::vector<PlotFrame>& panels() const { return panels_; }
    double width() const { return width_; }
    double height() const { return height_; }

  private:
    std::string id_, title_, description_;
    std::vector<Shape> shapes_;
    std::vector<PlotFrame> panels_;
    std::optional<PlotArea> clip_;
    double width_ = 0, height_ = 0;
};

/// What of a path lies within the area: the pieces of it.
std::vector<std::vector<Point>> clipped(const std::vector<Point>& path, const PlotArea& area);

/// Approximate width in pixels of text in a common sans-serif face.
double text_width(std::string_view text, double size);

/// The text, or its beginning and "…" where it would be wider than `width`.
std::string fitted(std::string_view text, double size, double width);

}  // namespace assay::report
