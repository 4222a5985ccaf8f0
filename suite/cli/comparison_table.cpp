#include "suite/cli/comparison_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "suite/cli/terminal_colours.hpp"
#include "suite/report/report.hpp"
#include "suite/report/utf8.hpp"

namespace assay::cli {
namespace {

using compare::Row;
using compare::Verdict;

constexpr std::size_t longest_value = 32;
constexpr std::size_t narrowest_series = 16;
constexpr std::size_t widest_metric = 24;

const compare::SeriesName& name_of(const Row& row) {
    // Where one side stands in for all metrics of a case, the other one has the name.
    const compare::Series* named = row.a && !row.a->name.metric.empty() ? row.a : row.b;
    return (named ? named : row.a)->name;
}

std::string ratio_text(double ratio) {
    if (!std::isfinite(ratio)) return "–";
    return ratio >= 0.1 && ratio < 100 ? fmt::format("{:.3f}", ratio)
                                       : fmt::format("{:.3g}", ratio);
}

std::string interval_cell(const Row& row) {
    if (!std::isfinite(row.low) || !std::isfinite(row.high)) return "–";
    return fmt::format("[{}, {}]", ratio_text(row.low), ratio_text(row.high));
}

std::string count_cell(const Row& row) {
    if (row.paired) return fmt::format("{} pair{}", row.n_a, row.n_a == 1 ? "" : "s");
    return fmt::format("{}, {}", row.n_a, row.n_b);
}

/// Axes that every row of a group has with one value.
Case shared_axes(std::span<const NumberedRow> group) {
    Case shared = name_of(*group.front().row).axes;
    for (const NumberedRow& each : group) {
        const Case& axes = name_of(*each.row).axes;
        std::erase_if(shared, [&](const auto& axis) {
            const auto found = axes.find(axis.first);
            return found == axes.end() || found->second != axis.second;
        });
    }
    return shared;
}

std::string series_cell(const Row& row, const Case& shared) {
    compare::SeriesName name = name_of(row);
    name.experiment.clear();
    for (const auto& [axis, value] : shared) name.axes.erase(axis);
    return name.text();
}

std::size_t widest(const report::Grid& grid, std::size_t column) {
    std::size_t width = 0;
    for (const auto& row : grid) width = std::max(width, report::display_width(row[column]));
    return width;
}

/// Shortens the columns of series and metric until a line fits.
void fit(report::Grid& grid, std::size_t columns) {
    for (auto& row : grid) row[2] = shortened(row[2], widest_metric);
    std::size_t taken = 2 * (grid.front().size() - 1);
    for (std::size_t column = 0; column < grid.front().size(); ++column)
        if (column != 1) taken += widest(grid, column);
    const std::size_t left = columns > taken ? columns - taken : 0;
    for (auto& row : grid) row[1] = shortened(row[1], std::max(left, narrowest_series));
}

/// The verdict ends its line, so it can be found again once the columns are padded.
std::string with_colours(std::string table) {
    for (const auto& [word, colour] : {std::pair(std::string("faster"), Colour::green),
                                       std::pair(std::string("slower"), Colour::red)}) {
        const std::string from = "  " + word + "\n";
        const std::string to = "  " + coloured(word, colour) + "\n";
        for (std::size_t at = 0; (at = table.find(from, at)) != table.npos; at += to.size())
            table.replace(at, from.size(), to);
    }
    return table;
}

std::string group_table(std::span<const NumberedRow> group, const TableLook& look) {
    const Case shared = shared_axes(group);
    const std::string& experiment = name_of(*group.front().row).experiment;
    report::Grid grid{{"#", "series", "metric", "B/A", "interval", "n", "verdict"}};
    for (const auto& [number, row] : group)
        grid.push_back({std::to_string(number), series_cell(*row, shared), row->metric,
                        ratio_text(row->ratio), interval_cell(*row), count_cell(*row),
                        std::string(to_string(row->verdict))});
    fit(grid, look.columns);
    std::string heading = experiment;
    if (!shared.empty()) heading += (heading.empty() ? "" : "  ") + assay::to_string(shared);
    std::string table = report::text_table(grid);
    if (look.colours) table = with_colours(std::move(table));
    return (heading.empty() ? "" : shortened(heading, look.columns) + '\n') + table;
}

/// "1-4, 7"
std::string numbers_text(const std::vector<std::size_t>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i;
        while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
        if (!text.empty()) text += ", ";
        text += std::to_string(numbers[i]);
        if (end > i) text += fmt::format("-{}", numbers[end]);
        i = end + 1;
    }
    return text;
}

}  // namespace

std::string shortened(const std::string& text, std::size_t columns) {
    if (report::display_width(text) <= columns) return text;
    std::vector<std::string> letters;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = report::code_point(text, at).bytes;
        letters.push_back(text.substr(at, bytes));
        at += bytes;
    }
    // The end tells more than the start: sizes and values of axes stand there.
    std::string front, back;
    std::size_t left = columns > 0 ? columns - 1 : 0, first = 0, last = letters.size();
    while (left > 0 && first < last) {
        const bool to_front = report::display_width(front) < report::display_width(back);
        const std::string& letter = to_front ? letters[first] : letters[last - 1];
        const std::size_t width = report::display_width(letter);
        if (width > left) break;
        left -= width;
        if (to_front) {
            front += letter;
            ++first;
        } else {
            back = letter + back;
            --last;
        }
    }
    return front + "…" + back;
}

std::vector<std::string> differing_suspects(const compare::Arm& a, const compare::Arm& b) {
    std::vector<std::string> lines;
    const auto said = [](const std::string& value) {
        return value.empty() ? std::string("none") : shortened(value, longest_value);
    };
    for (const auto& [key, value] : a.suspects) {
        const auto other = b.suspects.find(key);
        if (other != b.suspects.end() && other->second != value)
            lines.push_back(fmt::format("{} {} → {}", key, said(value), said(other->second)));
    }
    return lines;
}

std::string comparison_header(const compare::Arm& a, const compare::Arm& b,
                              const compare::Options& options) {
    std::string text = fmt::format("A  {}\nB  {}\n", a.says, b.says);
    const auto suspects = differing_suspects(a, b);
    if (!suspects.empty()) {
        bool first = true;
        for (const std::string& line :
             report::wrapped(fmt::format("{}", fmt::join(suspects, "; ")), 90)) {
            text += (first ? "differ: " : "        ") + line + '\n';
            first = false;
        }
    }
    text += fmt::format("B over A with {:g} % intervals; what is within {:g} % is the same\n",
                        options.level * 100, options.margin * 100);
    return text;
}

std::string comparison_table(std::span<const NumberedRow> rows, const TableLook& look) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<NumberedRow>> groups;
    for (const NumberedRow& each : rows) {
        const std::string& experiment = name_of(*each.row).experiment;
        auto& group = groups[experiment];
        if (group.empty()) order.push_back(experiment);
        group.push_back(each);
    }
    std::string text;
    for (const std::string& experiment : order)
        text += '\n' + group_table(groups[experiment], look);
    return text;
}

std::string comparison_reasons(std::span<const NumberedRow> rows, const TableLook& look) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<std::size_t>> numbers;
    for (const auto& [number, row] : rows) {
        if (row->verdict == Verdict::same) continue;
        auto& group = numbers[row->reason];
        if (group.empty()) order.push_back(row->reason);
        group.push_back(number);
    }
    std::string text;
    for (const std::string& reason : order) {
        const auto& who = numbers[reason];
        const std::size_t indent = 2;
        bool first = true;
        for (const std::string& line :
             report::wrapped(fmt::format("{} {}: {}", who.size() == 1 ? "row" : "rows",
                                         numbers_text(who), reason),
                             look.columns - 4)) {
            text += std::string(first ? indent : indent + 2, ' ') + line + '\n';
            first = false;
        }
    }
    return text.empty() ? text : "\nWhy\n" + text;
}

}  // namespace assay::cli
