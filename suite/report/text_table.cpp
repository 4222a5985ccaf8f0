// Columns padded to the widest cell, two spaces apart, a rule below the header.
#include <algorithm>
#include <cstdlib>

#include "suite/report/report.hpp"
#include "suite/report/utf8.hpp"

namespace assay::report {
namespace {

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
            const std::string space(widths[column] - display_width(text), ' ');
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

}  // namespace

std::string text_table(const Grid& any) {
    const Grid rows = printable_cells(any);
    const std::vector<std::size_t> widths = column_widths(rows);
    std::vector<bool> right(widths.size(), false);
    for (std::size_t column = 0; column < widths.size(); ++column) {
        bool any = false, all = true;
        for (std::size_t row = 1; row < rows.size(); ++row) {
            if (column >= rows[row].size()) continue;
            const std::string& cell = rows[row][column];
            if (cell.empty() || cell == "–") continue;  // nothing there decides nothing
            any = true;
            all = all && looks_numeric(cell);
        }
        right[column] = any && all;
    }
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

std::string text_tables(const Grid& any, std::size_t keys, std::size_t width) {
    constexpr std::size_t gap = 2;
    const Grid rows = printable_cells(any);
    const std::vector<std::size_t> widths = column_widths(rows);
    keys = std::min(keys, widths.size());
    std::size_t key_width = 0;
    for (std::size_t column = 0; column < keys; ++column) key_width += widths[column] + gap;
    std::string out;
    for (std::size_t column = keys; column < widths.size() || out.empty();) {
        const std::size_t first = column;
        std::size_t used = key_width;
        while (column < widths.size() && (column == first || used + widths[column] <= width))
            used += widths[column++] + gap;
        Grid part;
        for (const auto& row : rows) {
            const auto at = [&](std::size_t place) {
                return row.begin() + static_cast<std::ptrdiff_t>(std::min(place, row.size()));
            };
            part.emplace_back(row.begin(), at(keys));
            part.back().insert(part.back().end(), at(first), at(column));
        }
        if (!out.empty()) out += '\n';
        out += text_table(part);
    }
    return out;
}

}  // namespace assay::report
