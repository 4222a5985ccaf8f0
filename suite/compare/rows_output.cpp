#include "suite/compare/rows_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "suite/base/encoding.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::compare {
namespace {

std::string number_or_empty(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

template <class Enum>
std::string word(const std::optional<Enum>& value) {
    return value ? std::string(to_string(*value)) : std::string();
}

/// A cell of a Markdown table: nothing that does not print, no column of its own, and no page.
std::string cell(const std::string& text) {
    constexpr std::size_t longest = 1000;
    std::string out;
    for (const char c : report::shortened(report::printable(text), longest)) {
        if (std::string_view("|\\`*_<[]~").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string metric_cell(const Row& row, const report::RowName& name) {
    return name.metric.empty() ? row.id.metric : name.metric;
}

std::string joined(const std::vector<std::string>& sentences) {
    return fmt::format("{}", fmt::join(sentences, "; "));
}

std::string interval_text(const Row& row) {
    if (!std::isfinite(row.ratio)) return "–";
    if (!std::isfinite(row.low)) return fmt::format("{:.4g}", row.ratio);
    return fmt::format("{:.4g} [{:.4g}, {:.4g}]", row.ratio, row.low, row.high);
}

std::string markdown_line(const Row& row, const report::RowNames& names) {
    const report::RowName name = names.of(row.id);
    std::string why = row.reason;
    for (const std::string& warning : row.warnings) why += "; warning: " + warning;
    return fmt::format("| {} | {} | {} | {}, {} | {} | {} |\n", cell(name.series_text()),
                       cell(metric_cell(row, name)), interval_text(row), row.n_a, row.n_b,
                       marked_verdict(row), cell(why));
}

}  // namespace

nlohmann::json row_json(const Row& row, const report::RowNames& names) {
    return {{"series", row.id.series_text()},
            {"metric", row.id.metric_text()},
            {"unit", row.unit},
            {"ratio", finite_or_null(row.ratio)},
            {"low", finite_or_null(row.low)},
            {"high", finite_or_null(row.high)},
            {"n_a", row.n_a},
            {"n_b", row.n_b},
            {"verdict", to_string(row.verdict)},
            {"reason", row.reason},
            {"id", to_json(row.id)},
            {"name", names.of(row.id).text()},
            {"warnings", row.warnings}};
}

nlohmann::json rows_json(std::span<const Row> rows) {
    nlohmann::json all = nlohmann::json::array();
    const report::RowNames names = names_of(rows);
    for (const Row& row : rows) {
        all.push_back(row_json(row, names));
        all.back()["errors"] = row.errors;
    }
    return all;
}

std::string rows_csv(std::span<const Row> rows) {
    std::string out =
        "series,metric,unit,ratio,low,high,n_a,n_b,verdict,reason,profile,provenance,scenario,"
        "name,warnings\n";
    const report::RowNames names = names_of(rows);
    using report::printable;
    for (const Row& row : rows)
        out += csv_line(
            {printable(row.id.series_text()), printable(row.id.metric_text()), printable(row.unit),
             number_or_empty(row.ratio), number_or_empty(row.low), number_or_empty(row.high),
             std::to_string(row.n_a), std::to_string(row.n_b), std::string(to_string(row.verdict)),
             printable(row.reason), word(row.id.profile), word(row.id.provenance),
             printable(row.id.scenario), names.of(row.id).text(), printable(joined(row.warnings))});
    return out;
}

std::string rows_markdown(std::span<const Row> rows, const std::string& last) {
    constexpr const char* head =
        "| series | metric | B/A | n | verdict | reason |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    // Beside the rows: the counts of all and of what is left out, the head.
    constexpr std::size_t longest_frame = 1000;
    const report::RowNames names = names_of(rows);
    const std::vector<const Row*> all = pointers_to(rows);
    std::vector<const Row*> in_order = all;
    std::stable_sort(in_order.begin(), in_order.end(), [](const Row* a, const Row* b) {
        return place_of(a->verdict) < place_of(b->verdict);
    });
    std::map<const Row*, std::string> lines;
    std::vector<const Row*> left_out;
    std::size_t size = longest_frame + last.size();
    for (const Row* row : in_order) {
        std::string line = left_out.empty() ? markdown_line(*row, names) : std::string();
        size += line.size();
        if (!left_out.empty() || size > report::longest_markdown)
            left_out.push_back(row);
        else
            lines.emplace(row, std::move(line));
    }
    std::string out = counts_text(all);
    if (!left_out.empty())
        out += fmt::format(
            ". {} that tell most are below. Left out are {}. `--csv` and `--json` have all",
            lines.size(), counts_text(left_out));
    out += "\n\n";
    if (!lines.empty()) out += head;
    for (const Row* row : all)
        if (const auto found = lines.find(row); found != lines.end()) out += found->second;
    return last.empty() ? out : out + '\n' + last;
}

int place_of(RowVerdict verdict) {
    switch (verdict) {
        case RowVerdict::failed:
        case RowVerdict::slower:
            return 0;
        case RowVerdict::faster:
            return 1;
        case RowVerdict::ambiguous:
            return 2;
        case RowVerdict::failed_before:
        case RowVerdict::not_comparable:
            return 3;
        case RowVerdict::same:
            return 4;
    }
    return 4;
}

std::vector<const Row*> pointers_to(std::span<const Row> rows) {
    std::vector<const Row*> all;
    for (const Row& row : rows) all.push_back(&row);
    return all;
}

std::string counts_text(std::span<const Row* const> rows) {
    std::vector<std::string> parts;
    for (const RowVerdict verdict :
         {RowVerdict::same, RowVerdict::faster, RowVerdict::slower, RowVerdict::ambiguous,
          RowVerdict::not_comparable, RowVerdict::failed, RowVerdict::failed_before}) {
        long n = 0, warned = 0;
        for (const Row* row : rows)
            if (row->verdict == verdict) {
                ++n;
                warned += row->warnings.empty() ? 0 : 1;
            }
        if (n > 0)
            parts.push_back(fmt::format("{} {}{}", n, to_string(verdict),
                                        warned == 0   ? ""
                                        : warned == n ? " (!)"
                                                      : fmt::format(", {} of them (!)", warned)));
    }
    return fmt::format("{} row{}{}{}", rows.size(), rows.size() == 1 ? "" : "s",
                       parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

report::RowNames names_of(std::span<const Row> rows) {
    std::vector<RowId> ids;
    for (const Row& row : rows) ids.push_back(row.id);
    return report::RowNames(ids);
}

std::string marked_verdict(const Row& row) {
    return std::string(to_string(row.verdict)) + (row.warnings.empty() ? "" : " (!)");
}

}  // namespace assay::compare
