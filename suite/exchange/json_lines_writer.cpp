// A results database to JSON lines.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "suite/exchange/json_lines.hpp"
#include "suite/formats/base64.hpp"

namespace assay::exchange {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes_of(const SQLite::Column& column) {
    const auto* bytes = static_cast<const char*>(column.getBlob());
    return bytes ? std::string(bytes, static_cast<std::size_t>(column.getBytes())) : std::string();
}

bool is_utf8(const std::string& text) {
    try {
        (void)nlohmann::json(text).dump();
        return true;
    } catch (const nlohmann::json::type_error&) {
        return false;
    }
}

Json cell(const SQLite::Column& column, bool is_seed) {
    if (column.isNull()) return nullptr;
    if (column.isInteger()) {
        const std::int64_t value = column.getInt64();
        if (is_seed) return std::bit_cast<std::uint64_t>(value);
        return value;
    }
    if (column.isFloat()) {
        const double value = column.getDouble();
        if (std::isinf(value)) return {{"real", value > 0 ? "inf" : "-inf"}};
        return value;
    }
    std::string bytes = bytes_of(column);
    if (column.isBlob()) return {{"blob", to_base64(bytes)}};
    if (!is_utf8(bytes)) return {{"text", to_base64(bytes)}};
    return bytes;
}

}  // namespace

const std::vector<std::string>& result_tables() {
    static const std::vector<std::string> tables = {"machine",
                                                    "session",
                                                    "calibration",
                                                    "series",
                                                    "sample",
                                                    "metric",
                                                    "event",
                                                    "time_series",
                                                    "data_table",
                                                    "data_table_column",
                                                    "data_table_cell",
                                                    "artifact_blob",
                                                    "artifact",
                                                    "hardware",
                                                    "claim_check",
                                                    "baseline",
                                                    "annotation",
                                                    "metric_unit",
                                                    "night",
                                                    "gate_row",
                                                    "night_row",
                                                    "regression",
                                                    "regression_step",
                                                    "accepted_level",
                                                    "mute"};
    return tables;
}

void write_json_lines(const std::filesystem::path& database, std::ostream& out) {
    SQLite::Database sql(database.string(), SQLite::OPEN_READONLY);
    const Json header = {{"format", "assay-results"},
                         {"version", 1},
                         {"schema", sql.execAndGet("PRAGMA user_version").getInt()}};
    out << header.dump() << '\n';
    std::int64_t count = 0;
    for (const auto& table : result_tables()) {
        SQLite::Statement rows(sql, fmt::format("SELECT * FROM {}", table));
        while (rows.executeStep()) {
            Json line = {{"table", table}, {"row", Json::object()}};
            for (int i = 0; i < rows.getColumnCount(); ++i) {
                const std::string name = rows.getColumnName(i);
                line["row"][name] = cell(rows.getColumn(i), table == "sample" && name == "seed");
            }
            out << line.dump() << '\n';
            ++count;
        }
    }
    out << Json{{"rows", count}}.dump() << '\n';
}

}  // namespace assay::exchange
