// What standard output shows: colours and columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::cli {

/// Standard output is a terminal that is not dumb, and NO_COLOR (no-color.org) is not set.
bool colours_wanted();

enum class Colour { green, red };
std::string coloured(std::string_view text, Colour);

/// Columns to fill, within 40 and 200: those of the terminal, else of $COLUMNS, else `otherwise`.
std::size_t drawing_width(std::size_t otherwise = 80);

}  // namespace assay::cli
