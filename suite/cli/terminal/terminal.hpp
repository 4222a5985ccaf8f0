// What standard output shows: colours and columns; and text that keeps to them.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace assay::cli {

/// Standard output is a terminal that is not dumb, and NO_COLOR (no-color.org) is not set.
bool colours_wanted();

/// TERM says that the terminal understands control sequences: it is set, and not "dumb".
bool terminal_is_capable();

/// Columns to fill, within 40 and 200: those of the terminal, else of $COLUMNS, else `otherwise`.
std::size_t drawing_width(std::size_t otherwise = 80);

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// Columns that a line of text or of a table should keep to: those of the terminal, else of
/// $COLUMNS, at least 20; else no_limit, since files and pipes want whole rows.
std::size_t text_columns();

/// Columns that sentences keep to: as text_columns(), but 100 in files and pipes, where nobody
/// reads a paragraph in one line and no program takes it apart.
std::size_t prose_columns();

/// `head`, then the text, printable() and broken at blanks within `columns`; later lines begin
/// below the text's first, or four columns in where the head is long. Ends with a newline.
std::string hanging(std::string_view head, std::string_view text, std::size_t columns);

/// Each line of a text, printable() and broken at blanks within `columns`. What follows is four
/// columns in, or below the second column of a line that begins with a short word and two blanks,
/// "A  what it is".
std::string fitted_lines(std::string_view text, std::size_t columns);

}  // namespace assay::cli
