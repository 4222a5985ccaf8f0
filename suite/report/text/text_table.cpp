// Columns padded to the widest cell, two spaces apart, a rule below the header; and what becomes of
// them where a terminal is narrower than that.
#include "suite/report/text/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "suite/report/text/terminal_text.hpp"

namespace assay::report {

std::string number(double value) {
    if (value == 0) return "0";  // also -0.0
    if (value == std::floor(value) && std::abs(value) < 1e6) return fmt::format("{:.0f}", value);
    return fmt::format("{:.4g}", value);
}

std::string number(double median, double low, double high) {
    const std::string least = number(low), most = number(high);
    if (least == most) return number(median);
    return fmt::format("{} ({}–{})", number(median), least, most);
}

namespace {

constexpr std::size_t column_gap = 2;  ///< blanks between columns

/// The cell is one number, perhaps followed by something in brackets or a unit sign: "0.61
/// (0.6–0.7)".
bool looks_numeric(const std::string& cell) {
    char* end = nullptr;
    std::strtod(cell.c_str(), &end);
    return end != cell.c_str() && (*end == '\0' || *end == ' ' || *end == '%');
}

std::vector<std::string> lines_of(const std::string& cell) {
    std::vector<std::string> lines{""};
    for (const char c : cell) {
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += c;
    }
    return lines;
}

void append(std::string& out, const std::vector<std::string>& cells,
            const std::vector<std::size_t>& widths, const std::vector<bool>& right) {
    std::vector<std::vector<std::string>> split;
    std::size_t height = 1;
    for (const std::string& cell : cells) {
        split.push_back(lines_of(cell));
        height = std::max(height, split.back().size());
    }
    for (std::size_t row = 0; row < height; ++row) {
        std::string line;
        for (std::size_t column = 0; column < widths.size(); ++column) {
            const bool there = column < split.size() && row < split[column].size();
            const std::string text = there ? split[column][row] : "";
            const std::size_t shown = display_width(text);
            const std::string space(widths[column] - std::min(widths[column], shown), ' ');
            if (column > 0) line += "  ";
            line += right[column] ? space + text : text + space;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
}

/// Cells hold names that others chose.
Grid printable_cells(Grid rows) {
    for (auto& row : rows)
        for (std::string& cell : row) cell = printable(cell, "\n");
    return rows;
}

std::vector<std::size_t> column_widths(const Grid& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
        for (std::size_t column = 0; column < row.size(); ++column) {
            if (column == widths.size()) widths.push_back(0);
            for (const std::string& line : lines_of(row[column]))
                widths[column] = std::max(widths[column], display_width(line));
        }
    return widths;
}

/// Which columns hold nothing but numbers.
std::vector<bool> numeric_columns(const Grid& rows, std::size_t columns) {
    std::vector<bool> numeric(columns, false);
    for (std::size_t column = 0; column < columns; ++column) {
        bool any = false, all = true;
        for (std::size_t row = 1; row < rows.size(); ++row) {
            if (column >= rows[row].size()) continue;
            const std::string& cell = rows[row][column];
            if (cell.empty() || cell == "–") continue;  // nothing there decides nothing
            any = true;
            all = all && looks_numeric(cell);
        }
        numeric[column] = any && all;
    }
    return numeric;
}

std::size_t table_width(const std::vector<std::size_t>& widths) {
    std::size_t total = 0;
    for (const std::size_t width : widths) total += width + column_gap;
    return total - std::min(total, column_gap);
}

/// A column of words is not made narrower than this: one word per line reads badly.
constexpr std::size_t narrowest_words = 14;

/// How narrow each column can be: one of words as its longest word, one of numbers as it is.
std::vector<std::size_t> least_widths(const Grid& rows, const std::vector<std::size_t>& widths) {
    const std::vector<bool> numeric = numeric_columns(rows, widths.size());
    std::vector<std::size_t> least(widths.size(), 0);
    for (const auto& row : rows)
        for (std::size_t column = 0; column < row.size(); ++column)
            for (const std::string& line : lines_of(row[column]))
                for (const std::string& word : wrapped(line, 1))
                    least[column] = std::max(least[column], display_width(word));
    for (std::size_t column = 0; column < widths.size(); ++column)
        least[column] = numeric[column]
                            ? widths[column]
                            : std::min(widths[column], std::max(least[column], narrowest_words));
    return least;
}

/// Widths that fit, the widest columns giving way first; empty where none do.
std::vector<std::size_t> fitting_widths(const Grid& rows, std::size_t width) {
    std::vector<std::size_t> widths = column_widths(rows);
    const std::vector<std::size_t> least = least_widths(rows, widths);
    if (table_width(least) > width) return {};
    while (table_width(widths) > width) {
        std::size_t widest = widths.size();
        for (std::size_t column = 0; column < widths.size(); ++column)
            if (widths[column] > least[column] &&
                (widest == widths.size() || widths[column] > widths[widest]))
                widest = column;
        --widths[widest];
    }
    return widths;
}

std::string broken(const std::string& cell, std::size_t width) {
    std::string out;
    for (const std::string& line : lines_of(cell))
        for (const std::string& piece : wrapped(line, width))
            out += (out.empty() ? "" : "\n") + piece;
    return out;
}

/// Whether words broken at blanks keep to the width: no single one is wider.
bool fits(const std::string& cell, std::size_t width) {
    const std::vector<std::string> lines = lines_of(broken(cell, width));
    return std::all_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return display_width(line) <= width; });
}

/// A row as lines "column  cell", the rows apart by an empty line. Where a cell has no room beside
/// the names, it follows below its own.
std::string as_blocks(const Grid& rows, std::size_t width) {
    std::size_t names = 0;
    for (const std::string& name : rows[0]) names = std::max(names, display_width(name));
    const bool beside = width >= names + column_gap + narrowest_words;
    std::string out;
    for (std::size_t row = 1; row < rows.size(); ++row) {
        if (row > 1) out += '\n';
        for (std::size_t column = 0; column < std::min(rows[row].size(), rows[0].size());
             ++column) {
            const std::string& name = rows[0][column];
            const std::string& cell = rows[row][column];
            if (cell.empty()) continue;
            const std::size_t taken = (beside ? names : display_width(name)) + column_gap;
            const std::size_t left = width > taken ? width - taken : 0;
            if (beside ? fits(cell, left)
                       : lines_of(cell).size() == 1 && display_width(cell) <= left) {
                append(out, {name, broken(cell, left)}, {taken - column_gap, left}, {false, false});
                continue;
            }
            out += name + '\n';
            for (const std::string& line : lines_of(broken(cell, width - column_gap)))
                out += std::string(column_gap, ' ') + line + '\n';
        }
    }
    return out;
}

}  // namespace

std::string text_table(const Grid& any) {
    const Grid rows = printable_cells(any);
    const std::vector<std::size_t> widths = column_widths(rows);
    const std::vector<bool> right = numeric_columns(rows, widths.size());
    std::string out;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        append(out, rows[row], widths, right);
        if (row > 0) continue;
        std::vector<std::string> rule;
        for (const std::size_t width : widths) {
            rule.emplace_back();
            for (std::size_t i = 0; i < width; ++i) rule.back() += "─";
        }
        append(out, rule, widths, right);
    }
    return out;
}

std::string text_table(const Grid& any, std::size_t width) {
    const Grid rows = printable_cells(any);
    if (rows.size() < 2 || table_width(column_widths(rows)) <= width) return text_table(rows);
    const std::vector<std::size_t> widths = fitting_widths(rows, width);
    if (widths.empty()) return as_blocks(rows, width);
    Grid narrow = rows;
    for (auto& row : narrow)
        for (std::size_t column = 0; column < row.size(); ++column)
            row[column] = broken(row[column], widths[column]);
    return text_table(narrow);
}

std::vector<Grid> narrow_tables(const Grid& any, std::size_t keys, std::size_t width) {
    const Grid rows = printable_cells(any);
    const std::vector<std::size_t> widths = column_widths(rows);
    keys = std::min(keys, widths.size());
    std::size_t key_width = 0;
    for (std::size_t column = 0; column < keys; ++column) key_width += widths[column] + column_gap;
    std::vector<Grid> parts;
    for (std::size_t column = keys; column < widths.size() || parts.empty();) {
        const std::size_t first = column;
        std::size_t used = key_width;
        while (column < widths.size() && (column == first || used + widths[column] <= width))
            used += widths[column++] + column_gap;
        Grid part;
        for (const auto& row : rows) {
            const auto at = [&](std::size_t place) {
                return row.begin() + static_cast<std::ptrdiff_t>(std::min(place, row.size()));
            };
            part.emplace_back(row.begin(), at(keys));
            part.back().insert(part.back().end(), at(first), at(column));
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

std::string text_tables(const Grid& rows, std::size_t keys, std::size_t width) {
    std::string out;
    for (const Grid& part : narrow_tables(rows, keys, width))
        out += (out.empty() ? "" : "\n") + text_table(part);
    return out;
}

std::string annotated_table(const Grid& rows, std::size_t width, const RowText& heading,
                            const RowText& below) {
    std::vector<std::string> lines;
    bool fits = true;
    std::istringstream table(text_table(rows));
    for (std::string line; std::getline(table, line);) {
        fits = fits && display_width(line) <= width;
        lines.push_back(line);
    }
    std::string out = fits ? lines[0] + '\n' + lines[1] + '\n' : "";
    for (std::size_t row = 1; row < rows.size(); ++row)
        out += (fits ? lines[row + 1] + '\n' : heading(row)) + below(row);
    return out;
}

std::string markdown_cell(std::string_view text) {
    const auto is_letter = [](unsigned char c) { return std::isalnum(c) || c >= 0x80; };
    const std::string safe = printable(text, "\n");
    std::string out;
    for (std::size_t i = 0; i < safe.size(); ++i) {
        const char c = safe[i];
        // Within a word an underscore is one.
        const bool in_word = c == '_' && i > 0 && i + 1 < safe.size() &&
                             is_letter(static_cast<unsigned char>(safe[i - 1])) &&
                             is_letter(static_cast<unsigned char>(safe[i + 1]));
        if (c == '<' || c == '&') {
            out += c == '<' ? "&lt;" : "&amp;";
            continue;
        }
        if (!in_word && std::string_view("|\\*_[]~").find(c) != std::string_view::npos) out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string markdown_table(const Grid& rows) {
    if (rows.empty()) return "";
    std::string out;
    const auto add = [&](const std::vector<std::string>& cells) {
        out += '|';
        for (const std::string& cell : cells) out += ' ' + markdown_cell(cell) + " |";
        out += '\n';
    };
    add(rows[0]);
    out += '|';
    for (const bool numeric : numeric_columns(rows, rows[0].size()))
        out += numeric ? "---:|" : "---|";
    out += '\n';
    for (std::size_t row = 1; row < rows.size(); ++row) add(rows[row]);
    return out;
}

}  // namespace assay::report
