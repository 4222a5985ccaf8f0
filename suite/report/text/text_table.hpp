// Tables for the terminal, and how numbers read in them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// Rows of cells; the first row is the header.
using Grid = std::vector<std::vector<std::string>>;

/// A plain table for the terminal. Right-aligns columns whose cells are all numbers; widths count
/// what a terminal shows, not bytes. A cell may hold several lines; what else does not print in it
/// is written out (printable()).
std::string text_table(const Grid& rows);
/// The same in at most `width` columns of the terminal: cells of words are broken at blanks, and
/// where that is not enough each row becomes a block of lines, "column  cell".
std::string text_table(const Grid& rows, std::size_t width);
/// A table in at most `width` columns of the terminal where that can be: what does not fit follows
/// in further tables, each with the first `keys` columns again.
std::string text_tables(const Grid& rows, std::size_t keys, std::size_t width);
std::vector<Grid> narrow_tables(const Grid& rows, std::size_t keys, std::size_t width);

/// A text of a row, by its number in the grid.
using RowText = std::function<std::string(std::size_t)>;
/// A table with text below each row, because a column of sentences would not fit. `heading` stands
/// in place of a row where the table takes more than `width` columns of the terminal.
std::string annotated_table(const Grid& rows, std::size_t width, const RowText& heading,
                            const RowText& below);

/// GitHub refuses comments of more characters, and drops longer summaries of steps whole.
inline constexpr std::size_t longest_markdown = 65'535;

/// A table for Markdown: columns of numbers to the right, each row a line.
std::string markdown_table(const Grid& rows);
/// A text as it reads in a cell of such a table: Markdown and HTML in it are no markup, but that
/// `code` is.
std::string markdown_cell(std::string_view text);

/// "0.614", "1.2e+06", "12345": short, and precise enough for people (four significant digits,
/// whole numbers below a million in full).
std::string number(double value);
/// "2", or "2 (1–3)" where the values whose median it is differ.
std::string number(double median, double low, double high);

}  // namespace assay::report
