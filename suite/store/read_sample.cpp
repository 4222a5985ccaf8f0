// Samples and what hangs on them, read.
#include <fmt/format.h>

#include <bit>
#include <stdexcept>
#include <unordered_map>

#include "suite/store/row_codec.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

/// Calls `add(sample, row)` for each row of a table that hangs on the selected samples, in order.
template <class Add>
void read_attached(SQLite::Database& sql, std::string_view table, std::string_view columns,
                   const std::string& selection, std::string_view parameter,
                   const std::unordered_map<std::string, Sample*>& by_id, Add add) {
    SQLite::Statement rows(
        sql, fmt::format("SELECT sample, {} FROM {} WHERE sample IN ({}) ORDER BY sample, ordinal",
                         columns, table, selection));
    bind_text(rows, 1, parameter);
    while (rows.executeStep())
        if (const auto found = by_id.find(rows.getColumn(0).getString()); found != by_id.end())
            add(*found->second, rows);
}

}  // namespace

std::vector<Sample> read_samples(SQLite::Database& sql, const std::string& selection,
                                 std::string_view parameter, std::string_view order) {
    SQLite::Statement rows(
        sql, fmt::format("SELECT sample.id, session, series, spec, status, reason, sample.started, "
                         "seconds, hardware, calibration, data "
                         "FROM sample JOIN series ON series.id = sample.series "
                         "WHERE sample.id IN ({}) ORDER BY {}",
                         selection, order));
    bind_text(rows, 1, parameter);
    std::vector<Sample> samples;
    while (rows.executeStep()) {
        Sample sample;
        sample.id = rows.getColumn(0).getString();
        sample.session = rows.getColumn(1).getString();
        sample.series = rows.getColumn(2).getString();
        sample.spec = spec_from_text(rows.getColumn(3).getString());
        sample.status = rows.getColumn(4).getString();
        sample.reason = rows.getColumn(5).getString();
        sample.started = rows.getColumn(6).getString();
        sample.seconds = rows.getColumn(7).getDouble();
        sample.origin = {rows.getColumn(8).getString(), rows.getColumn(9).getString(),
                         rows.getColumn(10).getString(), sample.session};
        samples.push_back(std::move(sample));
    }
    std::unordered_map<std::string, Sample*> by_id;
    for (auto& sample : samples) by_id.emplace(sample.id, &sample);
    read_attached(sql, "metric", "name, labels, value", selection, parameter, by_id,
                  [](Sample& sample, SQLite::Statement& row) {
                      sample.metrics.push_back({row.getColumn(1).getString(),
                                                case_from_text(row.getColumn(2).getString()),
                                                real_or_nan(row.getColumn(3))});
                  });
    read_attached(
        sql, "event", "t_s, kind, rank, detail", selection, parameter, by_id,
        [](Sample& sample, SQLite::Statement& row) {
            sample.events.push_back({real_or_nan(row.getColumn(1)), row.getColumn(2).getString(),
                                     row.getColumn(3).getInt(),
                                     nlohmann::json::parse(row.getColumn(4).getString())});
        });
    return samples;
}

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

std::vector<Sample> Store::samples(std::string_view session) const {
    return impl_->database.read("read the samples", [&](SQLite::Database& sql) {
        return read_samples(sql, "SELECT id FROM sample WHERE session = ?", session,
                            "sample.started, seed, round, sample.id");
    });
}

Sample Store::sample(std::string_view id) const {
    return impl_->database.read("read the sample", [&](SQLite::Database& sql) {
        auto found = read_samples(sql, "SELECT ?", resolve(sql, "sample", id), "sample.id");
        if (found.empty()) throw std::invalid_argument("a sample without its series");
        read_rest(sql, found.front());
        return std::move(found.front());
    });
}

}  // namespace assay::store
