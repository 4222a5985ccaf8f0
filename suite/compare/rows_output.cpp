#include "suite/compare/rows_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/formats/csv_line.hpp"
#include "suite/formats/finite_json.hpp"
#include "suite/report/row_name.hpp"

namespace assay::compare {
namespace {

std::string number_or_empty(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

template <class Enum>
std::string word(const std::optional<Enum>& value) {
    return value ? std::string(to_string(*value)) : std::string();
}

/// A cell of a Markdown table: no line breaks, no column of its own.
std::string cell(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<') out += '\\';
        out += c == '\n' || c == '\r' ? ' ' : c;
    }
    return out;
}

std::string interval_text(const Row& row) {
    if (!std::isfinite(row.ratio)) return "–";
    if (!std::isfinite(row.low)) return fmt::format("{:.4g}", row.ratio);
    return fmt::format("{:.4g} [{:.4g}, {:.4g}]", row.ratio, row.low, row.high);
}

}  // namespace

nlohmann::json row_json(const Row& row) {
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
            {"id", to_json(row.id)}};
}

nlohmann::json rows_json(std::span<const Row> rows) {
    nlohmann::json all = nlohmann::json::array();
    for (const Row& row : rows) all.push_back(row_json(row));
    return all;
}

std::string rows_csv(std::span<const Row> rows) {
    std::string out =
        "series,metric,unit,ratio,low,high,n_a,n_b,verdict,reason,profile,provenance,scenario\n";
    for (const Row& row : rows)
        out += csv_line({row.id.series_text(), row.id.metric_text(), row.unit,
                         number_or_empty(row.ratio), number_or_empty(row.low),
                         number_or_empty(row.high), std::to_string(row.n_a),
                         std::to_string(row.n_b), std::string(to_string(row.verdict)), row.reason,
                         word(row.id.profile), word(row.id.provenance), row.id.scenario});
    return out;
}

std::string rows_markdown(std::span<const Row> rows) {
    std::string out =
        "| series | metric | B/A | n | verdict | reason |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    std::vector<RowId> ids;
    for (const Row& row : rows) ids.push_back(row.id);
    const report::RowNames names(ids);
    for (const Row& row : rows)
        out += fmt::format("| {} | {} | {} | {}, {} | {} | {} |\n",
                           cell(row.id.series_text() + names.of(row.id).context_text()),
                           cell(row.id.metric_text()), interval_text(row), row.n_a, row.n_b,
                           to_string(row.verdict), cell(row.reason));
    return out;
}

}  // namespace assay::compare
