#include "suite/compare/rows_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "suite/base/encoding.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::compare {
namespace {

std::string number_or_empty(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

template <class Enum>
std::string word(const std::optional<Enum>& value) {
    return value ? std::string(to_string(*value)) : std::string();
}

/// A cell of a Markdown table: nothing that does not print, no column of its own.
std::string cell(const std::string& text) {
    std::string out;
    for (const char c : report::printable(text)) {
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

std::string rows_markdown(std::span<const Row> rows) {
    std::string out =
        "| series | metric | B/A | n | verdict | reason |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    const report::RowNames names = names_of(rows);
    for (const Row& row : rows) {
        const report::RowName name = names.of(row.id);
        std::string why = row.reason;
        for (const std::string& warning : row.warnings) why += "; warning: " + warning;
        out += fmt::format("| {} | {} | {} | {}, {} | {} | {} |\n", cell(name.series_text()),
                           cell(metric_cell(row, name)), interval_text(row), row.n_a, row.n_b,
                           marked_verdict(row), cell(why));
    }
    return out;
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
