// The end of a sample: everything that hangs on it, in one transaction.
#include <fmt/format.h>

#include <set>

#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/sha256.hpp"

namespace assay::store {
namespace {

using Ordinal = std::int64_t;

/// Runs a prepared INSERT whose first two columns are the sample and the ordinal.
template <class Rows, class Bind>
void insert_all(SQLite::Database& sql, const std::string& sample, const char* text,
                const Rows& rows, Bind bind) {
    if (rows.empty()) return;
    SQLite::Statement insert(sql, text);
    Ordinal ordinal = 0;
    for (const auto& row : rows) {
        insert.bind(1, sample);
        insert.bind(2, ordinal++);
        bind(insert, row);
        insert.exec();
        insert.reset();
    }
}

void insert_metrics(SQLite::Database& sql, const Sample& sample) {
    std::set<std::pair<std::string, std::string>> seen;
    insert_all(
        sql, sample.id,
        "INSERT INTO metric (sample, ordinal, name, labels, value) VALUES (?, ?, ?, ?, ?)",
        sample.metrics, [&](SQLite::Statement& insert, const MetricValue& metric) {
            const auto labels = canonical(metric.labels);
            if (!seen.emplace(metric.name, labels).second)
                throw StoreError(fmt::format(
                    "sample {} of {} recorded the metric {} twice; a label must tell the values "
                    "apart.",
                    sample.id, sample.spec.experiment, metric_key(metric.name, metric.labels)));
            insert.bind(3, metric.name);
            insert.bind(4, labels);
            insert.bind(5, metric.value);
        });
}

void insert_events(SQLite::Database& sql, const Sample& sample) {
    insert_all(
        sql, sample.id,
        "INSERT INTO event (sample, ordinal, t_s, kind, rank, detail) VALUES (?, ?, ?, ?, ?, ?)",
        sample.events, [](SQLite::Statement& insert, const Event& event) {
            insert.bind(3, event.t_s);
            insert.bind(4, event.kind);
            insert.bind(5, event.rank);
            insert.bind(6, json_text(event.detail));
        });
}

void insert_time_series(SQLite::Database& sql, const Sample& sample) {
    insert_all(sql, sample.id,
               "INSERT INTO time_series (sample, ordinal, name, unit, labels, points, t_s, value) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
               sample.series_data, [&](SQLite::Statement& insert, const TimeSeries& curve) {
                   if (curve.t_s.size() != curve.values.size())
                       throw StoreError(fmt::format(
                           "the curve {} of sample {} has {} times but {} values.", curve.name,
                           sample.id, curve.t_s.size(), curve.values.size()));
                   insert.bind(3, curve.name);
                   insert.bind(4, curve.unit);
                   insert.bind(5, canonical(curve.labels));
                   insert.bind(6, static_cast<std::int64_t>(curve.values.size()));
                   bind_blob(insert, 7, blob_of(curve.t_s));
                   bind_blob(insert, 8, blob_of(curve.values));
               });
}

void insert_cells(SQLite::Database& sql, const Sample& sample, const Table& table, Ordinal number) {
    SQLite::Statement column(
        sql,
        "INSERT INTO data_table_column (sample, data_table, position, name, unit) "
        "VALUES (?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        column.bind(1, sample.id);
        column.bind(2, number);
        column.bind(3, static_cast<Ordinal>(i));
        column.bind(4, table.columns[i].name);
        column.bind(5, table.columns[i].unit);
        column.exec();
        column.reset();
    }
    SQLite::Statement cell(
        sql,
        "INSERT INTO data_table_cell (sample, data_table, line, position, value) "
        "VALUES (?, ?, ?, ?, ?)");
    for (std::size_t line = 0; line < table.rows.size(); ++line) {
        const auto& row = table.rows[line];
        if (row.size() != table.columns.size())
            throw StoreError(fmt::format(
                "row {} of the table {} of sample {} has {} cells, the table {} columns.", line,
                table.name, sample.id, row.size(), table.columns.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            cell.bind(1, sample.id);
            cell.bind(2, number);
            cell.bind(3, static_cast<Ordinal>(line));
            cell.bind(4, static_cast<Ordinal>(i));
            bind_cell(cell, 5, row[i]);
            cell.exec();
            cell.reset();
        }
    }
}

void insert_tables(SQLite::Database& sql, const Sample& sample) {
    insert_all(sql, sample.id, "INSERT INTO data_table (sample, ordinal, name) VALUES (?, ?, ?)",
               sample.tables,
               [](SQLite::Statement& insert, const Table& table) { insert.bind(3, table.name); });
    Ordinal number = 0;
    for (const auto& table : sample.tables) insert_cells(sql, sample, table, number++);
}

void insert_artifacts(SQLite::Database& sql, const Sample& sample) {
    if (sample.artifacts.empty()) return;
    SQLite::Statement content(
        sql, "INSERT INTO artifact_blob (sha256, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING");
    insert_all(
        sql, sample.id,
        "INSERT INTO artifact (sample, ordinal, name, media_type, sha256) VALUES (?, ?, ?, ?, ?)",
        sample.artifacts, [&](SQLite::Statement& insert, const Artifact& artifact) {
            const auto hash = sha256_hex(artifact.bytes);
            content.bind(1, hash);
            bind_blob(content, 2, artifact.bytes);
            content.exec();
            content.reset();
            insert.bind(3, artifact.name);
            insert.bind(4, artifact.media_type);
            insert.bind(5, hash);
        });
}

void insert_hardware(SQLite::Database& sql, const Sample& sample) {
    insert_all(sql, sample.id,
               "INSERT INTO hardware (sample, ordinal, t_s, device, clock_hz, memory_clock_hz, "
               "temperature_c, "
               "power_w, throttle_reasons) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
               sample.hardware, [](SQLite::Statement& insert, const HardwareReading& reading) {
                   insert.bind(3, reading.t_s);
                   insert.bind(4, reading.device);
                   bind_optional(insert, 5, reading.clock_hz);
                   bind_optional(insert, 6, reading.memory_clock_hz);
                   bind_optional(insert, 7, reading.temperature_c);
                   bind_optional(insert, 8, reading.power_w);
                   insert.bind(9, reading.throttle_reasons);
               });
}

void end(SQLite::Database& sql, const Sample& sample) {
    SQLite::Statement update(
        sql,
        "UPDATE sample SET status = ?, reason = ?, seconds = ?, "
        "started = coalesce(nullif(?, ''), started) WHERE id = ? AND status = 'running'");
    update.bind(1, sample.status);
    update.bind(2, sample.reason);
    update.bind(3, sample.seconds);
    update.bind(4, sample.started);
    update.bind(5, sample.id);
    if (update.exec() != 1)
        throw StoreError(
            fmt::format("sample {} is not running: unknown, or ended already.", sample.id));
    SQLite::Statement drop(sql, "DELETE FROM sample_checkpoint WHERE sample = ?");
    drop.bind(1, sample.id);
    drop.exec();
}

}  // namespace

void Store::finish_sample(const Sample& finished) {
    if (!is_final_status(finished.status))
        throw StoreError(
            fmt::format("\"{}\" is not a status a sample can end with.", finished.status));
    impl_->database.write("store a finished sample", [&](SQLite::Database& sql) {
        end(sql, finished);
        insert_metrics(sql, finished);
        insert_events(sql, finished);
        insert_time_series(sql, finished);
        insert_tables(sql, finished);
        insert_artifacts(sql, finished);
        insert_hardware(sql, finished);
    });
}

}  // namespace assay::store
