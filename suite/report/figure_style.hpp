// Colours, sizes and the style sheet of the figures.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::report {

/// Eight colours that people with the common kinds of colour blindness can tell apart (after Okabe
/// and Ito, two of them darkened for contrast on white). A ninth variant starts over, with other
/// marks.
inline constexpr std::size_t palette_size = 8;

std::string_view series_colour(std::size_t slot);  ///< on a light ground
std::string_view series_dash(std::size_t slot);    ///< stroke-dasharray; the first is solid

/// Style sheet that turns the classes of SvgCanvas dark where the reader prefers that.
std::string_view figure_style_sheet();

inline constexpr double figure_width = 800;

}  // namespace assay::report
