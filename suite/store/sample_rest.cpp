// Reads what only a whole sample carries: curves, tables, artifacts, hardware readings.
#include <stdexcept>

#include "suite/store/row_codec.hpp"
#include "suite/store/sample_rows.hpp"

namespace assay::store {
namespace {

std::string blob(const SQLite::Column& column) {
    const auto* bytes = static_cast<const char*>(column.getBlob());
    return bytes ? std::string(bytes, static_cast<std::size_t>(column.getBytes())) : std::string();
}

SQLite::Statement rows_of(SQLite::Database& sql, const Sample& sample, const char* query) {
    SQLite::Statement rows(sql, query);
    rows.bind(1, sample.id);
    return rows;
}

void read_time_series(SQLite::Database& sql, Sample& sample) {
    auto rows =
        rows_of(sql, sample,
                "SELECT name, unit, labels, t_s, value, points FROM time_series WHERE sample = ? "
                "ORDER BY ordinal");
    while (rows.executeStep()) {
        TimeSeries curve{rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                         case_from_text(rows.getColumn(2).getString()),
                         doubles_of(blob(rows.getColumn(3))), doubles_of(blob(rows.getColumn(4)))};
        const auto points = static_cast<std::size_t>(rows.getColumn(5).getInt64());
        if (curve.t_s.size() != points || curve.values.size() != points)
            throw std::invalid_argument("the curve " + curve.name + " has lost points");
        sample.series_data.push_back(std::move(curve));
    }
}

void read_tables(SQLite::Database& sql, Sample& sample) {
    auto tables = rows_of(sql, sample,
                          "SELECT ordinal, name FROM data_table WHERE sample = ? ORDER BY ordinal");
    while (tables.executeStep()) {
        Table table{tables.getColumn(1).getString(), {}, {}};
        const auto number = tables.getColumn(0).getInt64();
        auto columns =
            rows_of(sql, sample,
                    "SELECT name, unit FROM data_table_column WHERE sample = ? AND data_table = ? "
                    "ORDER BY position");
        columns.bind(2, number);
        while (columns.executeStep())
            table.columns.push_back(
                {columns.getColumn(0).getString(), columns.getColumn(1).getString()});
        auto cells = rows_of(
            sql, sample,
            "SELECT position, value FROM data_table_cell WHERE sample = ? AND data_table = ? "
            "ORDER BY line, position");
        cells.bind(2, number);
        while (cells.executeStep()) {
            if (cells.getColumn(0).getInt64() == 0) table.rows.emplace_back();
            if (table.rows.empty())
                throw std::invalid_argument("the table " + table.name + " has lost cells");
            table.rows.back().push_back(cell(cells.getColumn(1)));
        }
        for (const auto& row : table.rows)
            if (row.size() != table.columns.size())
                throw std::invalid_argument("the table " + table.name + " has lost cells");
        sample.tables.push_back(std::move(table));
    }
}

void read_artifacts(SQLite::Database& sql, Sample& sample) {
    auto rows =
        rows_of(sql, sample,
                "SELECT name, media_type, bytes FROM artifact JOIN artifact_blob USING (sha256) "
                "WHERE sample = ? ORDER BY ordinal");
    while (rows.executeStep())
        sample.artifacts.push_back({rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                                    blob(rows.getColumn(2))});
}

void read_hardware(SQLite::Database& sql, Sample& sample) {
    auto rows = rows_of(
        sql, sample,
        "SELECT t_s, device, clock_hz, memory_clock_hz, temperature_c, power_w, throttle_reasons "
        "FROM hardware WHERE sample = ? ORDER BY ordinal");
    while (rows.executeStep())
        sample.hardware.push_back(
            {real_or_nan(rows.getColumn(0)), rows.getColumn(1).getString(),
             optional_real(rows.getColumn(2)), optional_real(rows.getColumn(3)),
             optional_real(rows.getColumn(4)), optional_real(rows.getColumn(5)),
             rows.getColumn(6).getString()});
}

}  // namespace

void read_rest(SQLite::Database& sql, Sample& sample) {
    read_time_series(sql, sample);
    read_tables(sql, sample);
    read_artifacts(sql, sample);
    read_hardware(sql, sample);
}

}  // namespace assay::store
