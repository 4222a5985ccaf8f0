// What a row must say to be believed, beyond the constraints of its table.
#include "suite/exchange/row_check.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "suite/experiment/experiment.hpp"
#include "suite/store/gate_rows.hpp"
#include "suite/store/series_id.hpp"
#include "suite/store/sha256.hpp"

namespace assay::exchange {
namespace {

const std::string* text_in(const Row& row, std::string_view column) {
    for (const auto& [name, cell] : row.cells)
        if (name == column) return std::get_if<std::string>(&cell);
    return nullptr;
}

bool is_name(std::string_view column) {
    return !column.empty() &&
           column.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == column.npos;
}

/// Throws what the readers of the store would throw.
void parse_json_column(const std::string& table, const std::string& column,
                       const std::string& text) {
    if (table == "sample" && column == "spec")
        sample_spec_from_json(nlohmann::json::parse(text));
    else if (column == "axes" || column == "labels")
        case_from_json(nlohmann::json::parse(text));
    else if (column == "description" || column == "suspects" || column == "detail" ||
             column == "parameters" || column == "fitted_from" || column == "report")
        static_cast<void>(nlohmann::json::parse(text).type());
}

std::optional<std::string> derived_id_problem(
    const Row& row, const std::vector<const char*>& names,
    std::string (*derived)(const std::vector<std::string>&)) {
    std::vector<std::string> columns;
    for (const char* name : names) {
        const auto* text = text_in(row, name);
        if (!text) return fmt::format("the text '{}' of the {} is missing", name, row.table);
        columns.push_back(*text);
    }
    if (const auto* id = text_in(row, "id"); !id || *id != derived(columns))
        return fmt::format("the id of the {} does not follow from its columns", row.table);
    return std::nullopt;
}

std::optional<std::string> identity_problem(const Row& row) {
    if (row.table == "artifact_blob") {
        const auto* hash = text_in(row, "sha256");
        for (const auto& [name, cell] : row.cells)
            if (const auto* blob = std::get_if<Blob>(&cell);
                blob && hash && sha256_hex(blob->bytes) != *hash)
                return "the bytes of the artifact do not have the SHA-256 that names them";
    }
    if (row.table == "series")
        return derived_id_problem(row,
                                  {"experiment", "variant", "axes", "profile", "provenance",
                                   "scenario", "hardware", "calibration", "data"},
                                  store::series_id);
    if (row.table == "gate_row")
        return derived_id_problem(row,
                                  {"experiment", "variant", "axes", "profile", "provenance",
                                   "scenario", "metric", "labels"},
                                  store::gate_row_id);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> problem_of(const Row& row) {
    std::set<std::string> seen;
    for (const auto& [column, cell] : row.cells) {
        if (!is_name(column) || !seen.insert(column).second)
            return fmt::format("'{}' is no column, or is there twice", column);
        if (const auto* text = std::get_if<std::string>(&cell)) try {
                parse_json_column(row.table, column, *text);
            } catch (const std::exception& error) {
                return fmt::format("column '{}': {}", column, error.what());
            }
    }
    return identity_problem(row);
}

}  // namespace assay::exchange
