// Writes one SVG document, element by element, in the colours of the figures. Light colours are
// written as attributes, so that any viewer shows them; classes let a style sheet turn them dark.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::report {

/// Eight colours that people with the common kinds of colour blindness can tell apart (after Okabe
/// and Ito, two of them darkened for contrast on white). A ninth variant starts over, with other
/// marks.
inline constexpr std::size_t palette_size = 8;

std::string_view variant_dash(std::size_t slot);  ///< stroke-dasharray; the first is solid

inline constexpr double figure_width = 800;

struct Point {
    double x = 0, y = 0;
};

/// Who paints: text and lines of the frame, or one of the colours of variants.
enum class Ink { text, muted, grid, background, variant };

struct Paint {
    Ink ink = Ink::text;
    std::size_t slot = 0;  ///< with Ink::variant: which colour
};

struct TextStyle {
    double size = 11;
    enum class Anchor { start, middle, end } anchor = Anchor::start;
    Ink ink = Ink::text;
    bool bold = false;
    double rotate = 0;  ///< degrees, around the anchor
};

class SvgCanvas {
  public:
    /// `id` is unique within a page; title and description are for those who cannot see the
    /// picture.
    SvgCanvas(std::string id, std::string title, std::string description);

    void line(Point from, Point to, Paint, double width = 1, std::string_view dash = "");
    void polyline(const std::vector<Point>&, Paint, double width, std::string_view dash = "");
    void rectangle(Point corner, double width, double height, Paint fill,
                   std::string_view tooltip = "", double opacity = 1);
    void frame(Point corner, double width, double height, Paint stroke, double radius = 0);
    void text(Point, std::string_view, const TextStyle& = {});
    /// A mark whose shape goes with the colour's slot, for those who cannot tell the colours.
    void mark(Point, double radius, std::size_t slot, bool hollow, std::string_view tooltip);
    void cross(Point, double radius, Paint);

    /// The document; the canvas is spent.
    std::string finish(double width, double height) &&;

  private:
    std::string id_, title_, description_, body_;
};

/// Approximate width in pixels of text in a common sans-serif face.
double text_width(std::string_view text, double size);

/// The text, or its beginning and "…" where it would be wider than `width`.
std::string fitted(std::string_view text, double size, double width);

}  // namespace assay::report
