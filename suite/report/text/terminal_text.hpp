// Reading UTF-8 one character at a time, as far as layout and escaping need it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

struct CodePoint {
    char32_t value = 0;
    std::size_t bytes = 1;
    bool valid = true;  ///< false: this byte starts no well-formed sequence
};

/// The character that starts at text[at]; `at` must be inside the text.
CodePoint code_point(std::string_view text, std::size_t at);

/// False for what no terminal must get or no reader could see: control characters (escapes, tabs,
/// line breaks), those that turn the direction of text or end its lines, what is no UTF-8.
bool is_printable(const CodePoint&);

/// Names that others chose, fit for a terminal, a table, a report: what is_printable() refuses is
/// written out, "\x1b", "\n", "\u202e". `keep` (a line break, for texts of several lines) stays.
std::string printable(std::string_view text, std::string_view keep = "");

/// JSON as it was dumped, with "\u202e" in place of what is not is_printable(). Line breaks stay.
std::string printable_json(std::string_view dumped);
/// A JSON value so, ordered or not; bytes that are no UTF-8, as a model may write, are replaced.
template <class Json>
std::string printable_dump(const Json& value, int indent = -1) {
    return printable_json(value.dump(indent, ' ', false, Json::error_handler_t::replace));
}

/// Columns of a terminal that the text takes: 0 for combining marks, 2 for wide characters.
std::size_t display_width(std::string_view text);

/// At most `columns` wide; what is longer loses its middle.
std::string shortened(const std::string& text, std::size_t columns);

/// Breaks text at spaces into lines of at most `columns`, printable(); longer words stay whole, as
/// does what stands in backticks.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Such lines, four blanks in, at most `columns` wide with them.
std::string indented(std::string_view text, std::size_t columns);

enum class Colour { green, red };
/// For a terminal that shows colours.
std::string coloured(std::string_view text, Colour);

}  // namespace assay::report
