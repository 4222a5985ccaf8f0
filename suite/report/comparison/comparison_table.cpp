#include "suite/report/comparison/comparison_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "suite/compare/rows_output.hpp"
#include "suite/experiment/series.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/short_labels.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {
namespace {

using compare::Row;
using compare::RowVerdict;

constexpr std::size_t longest_value = 32;
constexpr std::size_t narrowest_series = 16;
constexpr std::size_t widest_metric = 24;
/// Above rows of files of Google Benchmark, compared as they are or imported.
constexpr const char* imported_heading = "benchmark";
/// A case this long stands in a heading of its own, not in every row.
constexpr std::size_t long_case = 64;

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

/// Axes that all of them have with one value.
Case shared_axes(const std::vector<const Case*>& cases) {
    Case shared = *cases.front();
    for (const Case* axes : cases)
        std::erase_if(shared, [&](const auto& axis) {
            const auto found = axes->find(axis.first);
            return found == axes->end() || found->second != axis.second;
        });
    return shared;
}

Case without(Case axes, const Case& shared) {
    for (const auto& [axis, value] : shared) axes.erase(axis);
    return axes;
}

/// "lazarus/fig8  model=gpt-l": what stands above a table, in lines of `columns`.
std::string group_heading(const std::string& experiment, const Case& shared, std::size_t columns) {
    std::string heading = printable(experiment);
    if (!shared.empty())
        heading += (heading.empty() ? "" : "  ") + printable(assay::to_string(shared));
    if (heading.empty()) return {};
    if (display_width(heading) <= columns) return heading + '\n';
    constexpr std::size_t indent = 4;
    std::string text;
    for (const std::string& line : wrapped(heading, columns - indent))
        text += (text.empty() ? std::string() : std::string(indent, ' ')) + line + '\n';
    return text;
}

std::string series_cell(const RowId& id, const Case& shared, const RowNames& names) {
    const std::string context = names.of(id).context_text();
    if (const auto benchmark = benchmark_name(id)) return benchmark->second + context;
    if (const auto imported = imported_benchmark(id)) return *imported + context;
    RowId rest = id;
    rest.experiment.clear();
    rest.axes = without(std::move(rest.axes), shared);
    return printable(rest.series_text()) + context;
}

/// Of the widest of its lines.
std::size_t cell_width(const std::string& cell) {
    std::size_t width = 0;
    for (std::size_t at = 0; at <= cell.size();) {
        const std::size_t end = std::min(cell.find('\n', at), cell.size());
        width = std::max(width, display_width(std::string_view(cell).substr(at, end - at)));
        at = end + 1;
    }
    return width;
}

std::size_t widest(const Grid& grid, std::size_t column) {
    std::size_t width = 0;
    for (const auto& row : grid) width = std::max(width, cell_width(row[column]));
    return width;
}

std::size_t table_width(const Grid& grid) {
    std::size_t width = 2 * (grid.front().size() - 1);
    for (std::size_t column = 0; column < grid.front().size(); ++column)
        width += widest(grid, column);
    return width;
}

/// Shortens one column to what the others leave of a line, but not below `least`; what differs in
/// it goes on differing.
void shrink(Grid& grid, std::size_t which, std::size_t columns, std::size_t least) {
    std::size_t taken = 2 * (grid.front().size() - 1);
    for (std::size_t column = 0; column < grid.front().size(); ++column)
        if (column != which) taken += widest(grid, column);
    const std::size_t left = columns > taken ? columns - taken : 0;
    std::vector<std::string> cells;
    for (const auto& row : grid) cells.push_back(row[which]);
    cells = shortened_apart(cells, std::max(left, least));
    for (std::size_t i = 0; i < grid.size(); ++i) grid[i][which] = cells[i];
}

/// Shortens the columns of metric and series until a line fits.
void fit(Grid& grid, std::size_t columns) {
    shrink(grid, 2, columns, widest_metric);
    shrink(grid, 1, columns, narrowest_series);
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

std::string group_table(std::span<const NumberedRow> group, const RowNames& names,
                        const TableLook& look) {
    std::vector<const Case*> cases;
    for (const NumberedRow& each : group) cases.push_back(&each.row->id.axes);
    const Case shared = shared_axes(cases);
    const RowId& first = group.front().row->id;
    Grid grid{{"#", "series", "metric", "B/A", "interval", "n", "verdict"}};
    for (const auto& [number, row] : group)
        grid.push_back({std::to_string(number), series_cell(row->id, shared, names),
                        benchmark_name(row->id) ? row->id.metric : printable(row->id.metric_text()),
                        ratio_text(row->ratio), interval_cell(*row), count_cell(*row),
                        compare::marked_verdict(*row)});
    Grid fitted = grid;
    fit(fitted, look.columns);
    // Where even that is too wide, cells are broken or become lines, and need no shortening.
    std::string table =
        table_width(fitted) <= look.columns ? text_table(fitted) : text_table(grid, look.columns);
    if (look.colours) table = with_colours(std::move(table));
    const auto benchmark = benchmark_name(first);
    if (benchmark) return group_heading(benchmark->first, {}, look.columns) + table;
    if (imported_benchmark(first)) return group_heading(imported_heading, {}, look.columns) + table;
    return group_heading(first.experiment, shared, look.columns) + table;
}

/// "1-4, 7", "1, 3, 5 … and 140 more"
std::string numbers_text(const std::vector<std::size_t>& numbers) {
    constexpr int most = 40;
    std::string text;
    int parts = 0;
    for (std::size_t i = 0; i < numbers.size();) {
        if (++parts > most) return text + fmt::format(" … and {} more", numbers.size() - i);
        std::size_t end = i;
        while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
        if (!text.empty()) text += ", ";
        text += std::to_string(numbers[i]);
        if (end > i) text += fmt::format("-{}", numbers[end]);
        i = end + 1;
    }
    return text;
}

/// What is said of rows, equal sentences once with the numbers of all their rows.
class Sentences {
  public:
    void add(const std::string& sentence, std::size_t number) {
        auto& who = numbers_[sentence];
        if (who.empty()) order_.push_back(sentence);
        who.push_back(number);
    }

    /// "" for none.
    std::string text(const char* title, const TableLook& look) const {
        constexpr std::size_t indent = 2;
        std::string text;
        for (const std::string& sentence : order_) {
            const auto& who = numbers_.at(sentence);
            bool first = true;
            for (const std::string& line :
                 wrapped(fmt::format("{} {}: {}", who.size() == 1 ? "row" : "rows",
                                     numbers_text(who), sentence),
                         look.columns - 4)) {
                text += std::string(first ? indent : indent + 2, ' ') + line + '\n';
                first = false;
            }
        }
        return text.empty() ? text : fmt::format("\n{}\n{}", title, text);
    }

  private:
    std::vector<std::string> order_;
    std::map<std::string, std::vector<std::size_t>> numbers_;
};

/// Rows of which nothing is known and that differ in their intervals alone have one reason, with
/// the widest: the table has those of each.
class WideIntervals {
  public:
    void add(const Row& row) {
        if (!compare::nothing_is_known(row)) return;
        const auto [at, is_new] = widest_.try_emplace(with(row, {}), row.low, row.high);
        at->second = {std::min(at->second.first, row.low), std::max(at->second.second, row.high)};
    }

    std::string reason_of(const Row& row) const {
        const auto found = widest_.find(with(row, {}));
        if (!compare::nothing_is_known(row) || found == widest_.end()) return row.reason;
        const auto [low, high] = found->second;
        return with(row, compare::nothing_known_text(low, high));
    }

  private:
    /// The reason with that in place of its interval.
    static std::string with(const Row& row, const std::string& words) {
        std::string text = row.reason;
        const std::string own = compare::nothing_known_text(row.low, row.high);
        if (const auto at = text.find(own); at != text.npos) text.replace(at, own.size(), words);
        return text;
    }

    std::map<std::string, std::pair<double, double>> widest_;
};

/// The contrasts of one experiment.
std::string contrast_group(const std::vector<const runner::Contrast*>& group, std::size_t columns) {
    std::vector<const Case*> cases;
    for (const runner::Contrast* contrast : group) cases.push_back(&contrast->axes);
    const Case shared = shared_axes(cases);
    const auto finite = [](double ratio) {
        return std::isfinite(ratio) ? fmt::format("{:.4f}", ratio) : std::string("-");
    };
    Grid grid{{"case", "variant", "against", "metric", "ratio", "interval", "rounds", "verdict"}};
    bool one_case = true;
    for (const runner::Contrast* contrast : group) {
        const Case rest = without(contrast->axes, shared);
        one_case = one_case && rest.empty();
        const stopping::Answer& answer = contrast->answer;
        grid.push_back({assay::to_string(rest), contrast->variant, contrast->against,
                        metric_text(contrast->metric.name, contrast->metric.labels),
                        finite(contrast->ratio),
                        std::isfinite(answer.low)
                            ? fmt::format("{} … {}", finite(answer.low), finite(answer.high))
                            : "-",
                        std::to_string(contrast->rounds), std::string(contrast->verdict())});
    }
    if (one_case)
        for (auto& row : grid) row.erase(row.begin());
    return group_heading(group.front()->experiment, shared, columns) + text_table(grid, columns);
}

}  // namespace

std::vector<std::string> differing_suspects(const compare::Arm& a, const compare::Arm& b) {
    std::vector<std::string> lines;
    const auto said = [](const std::string& value) {
        return value.empty() ? std::string("none") : shortened(printable(value), longest_value);
    };
    for (const auto& [key, value] : a.suspects) {
        const auto other = b.suspects.find(key);
        if (other != b.suspects.end() && other->second != value)
            lines.push_back(
                fmt::format("{} {} → {}", printable(key), said(value), said(other->second)));
    }
    return lines;
}

std::string comparison_header(const compare::Arm& a, const compare::Arm& b,
                              const compare::Options& options) {
    std::string text = fmt::format("A  {}\nB  {}\n", printable(a.says), printable(b.says));
    const auto suspects = differing_suspects(a, b);
    if (!suspects.empty()) {
        bool first = true;
        for (const std::string& line : wrapped(fmt::format("{}", fmt::join(suspects, "; ")), 90)) {
            text += (first ? "differ: " : "        ") + line + '\n';
            first = false;
        }
    }
    text += fmt::format("B over A with {:g} % intervals; what is within {:g} % is the same\n",
                        options.level * 100, options.margin * 100);
    return text;
}

std::string comparison_table(std::span<const NumberedRow> rows, const TableLook& look) {
    std::vector<RowId> ids;
    for (const NumberedRow& each : rows) ids.push_back(each.row->id);
    const RowNames names(ids);
    std::vector<std::string> order;
    std::map<std::string, std::vector<NumberedRow>> groups;
    for (const NumberedRow& each : rows) {
        const RowId& id = each.row->id;
        const std::string axes = assay::to_string(id.axes);
        const auto benchmark = benchmark_name(id);
        const std::string key = benchmark                 ? benchmark->first
                                : imported_benchmark(id)  ? imported_heading
                                : axes.size() > long_case ? id.experiment + ' ' + axes
                                                          : id.experiment;
        auto& group = groups[key];
        if (group.empty()) order.push_back(key);
        group.push_back(each);
    }
    std::string text;
    for (const std::string& key : order) text += '\n' + group_table(groups[key], names, look);
    return text;
}

std::string comparison_reasons(std::span<const NumberedRow> rows, const TableLook& look) {
    WideIntervals wide;
    for (const auto& [number, row] : rows) wide.add(*row);
    Sentences reasons;
    for (const auto& [number, row] : rows)
        if (row->verdict != RowVerdict::same) reasons.add(wide.reason_of(*row), number);
    return reasons.text("Why", look);
}

std::string comparison_warnings(std::span<const NumberedRow> rows, const TableLook& look) {
    Sentences warnings;
    for (const auto& [number, row] : rows)
        for (const std::string& sentence : row->warnings) warnings.add(sentence, number);
    return warnings.text("Warnings (!)", look);
}

std::string contrast_table(std::span<const runner::Contrast> contrasts, std::size_t columns) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const runner::Contrast*>> groups;
    for (const runner::Contrast& contrast : contrasts) {
        auto& group = groups[contrast.experiment];
        if (group.empty()) order.push_back(contrast.experiment);
        group.push_back(&contrast);
    }
    std::string text;
    for (const std::string& experiment : order)
        text += (text.empty() ? "" : "\n") + contrast_group(groups[experiment], columns);
    return text;
}

std::string saved_line(long saved) {
    if (saved == 0) return {};
    return fmt::format("{} samples saved: what was decided needed no more rounds\n", saved);
}

}  // namespace assay::report
