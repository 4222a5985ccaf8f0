// Samples, written: begun, tried again, and ended with everything that hangs on them.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <bit>
#include <set>
#include <utility>

#include "suite/base/sha256.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {

// ---- the beginning ------------------------------------------------------------------------------

void remove_attempt(SQLite::Database& sql, const std::string& sample) {
    for (const char* statement :
         {"UPDATE main.annotation SET sample = NULL, "
          "session = (SELECT session FROM main.sample WHERE id = main.annotation.sample), "
          "words = words || ' (about sample ' || sample || ', since tried again)' WHERE sample = ?",
          "DELETE FROM main.sample WHERE id = ?"}) {
        SQLite::Statement run(sql, statement);
        run.bind(1, sample);
        run.exec();
    }
    sql.exec(
        "DELETE FROM main.artifact_blob WHERE sha256 NOT IN (SELECT sha256 FROM main.artifact)");
}

namespace {

std::string find_or_make_series(Database& database, const SeriesKey& key) {
    const auto columns = series_columns(key);
    auto id = series_id(columns);
    const Prepared insert = database.prepared(
        "INSERT INTO series (id, experiment, variant, axes, profile, provenance, "
        "scenario, hardware, calibration, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO NOTHING");
    insert->bind(1, id);
    for (std::size_t i = 0; i < columns.size(); ++i)
        insert->bind(static_cast<int>(i) + 2, columns[i]);
    insert->exec();
    return id;
}

/// Makes room for another attempt at a sample of a resumed session.
void replace_unsuccessful(Database& database, std::string_view session, const std::string& series,
                          const SampleSpec& spec) {
    std::string id, status;
    {
        const Prepared find = database.prepared(
            "SELECT id, status FROM sample WHERE session = ? AND series = ? AND seed = ? "
            "AND round = ?");
        bind_text(*find, 1, session);
        find->bind(2, series);
        find->bind(3, std::bit_cast<std::int64_t>(spec.seed));
        find->bind(4, spec.round);
        if (!find->executeStep()) return;
        id = find->getColumn(0).getString();
        status = find->getColumn(1).getString();
    }
    if (status == "ok" || status == "running")
        throw StoreError(
            fmt::format("{} {} {{{}}} seed {} round {} is in session {} already (sample {}, {}).",
                        spec.experiment, spec.variant, to_string(spec.axes), spec.seed, spec.round,
                        session, id, status));
    remove_attempt(database.sql(), id);
}

}  // namespace

std::string Store::begin_sample(std::string_view session, const SampleSpec& spec,
                                const SeriesKey& key) {
    auto& database = impl_->database;
    return database.write("begin a sample", [&](SQLite::Database&) {
        owner_of(database, session);
        const auto series = find_or_make_series(database, key);
        replace_unsuccessful(database, session, series, spec);
        auto id = new_uuid_beside(session);
        const Prepared insert = database.prepared(
            "INSERT INTO sample (id, session, series, seed, round, status, spec, started) "
            "VALUES (?, ?, ?, ?, ?, 'running', ?, ?)");
        insert->bind(1, id);
        bind_text(*insert, 2, session);
        insert->bind(3, series);
        insert->bind(4, std::bit_cast<std::int64_t>(spec.seed));
        insert->bind(5, spec.round);
        insert->bind(6, json_text(to_json(spec)));
        insert->bind(7, now_utc());
        insert->exec();
        return id;
    });
}

// ---- what can be stored -------------------------------------------------------------------------

namespace {

/// The metrics of one sample, as they come.
class RecordedMetrics {
  public:
    /// The labels as a column has them. StoreError: recorded before with these labels, or one of
    /// them is not finite.
    std::string labels_of(const MetricValue& metric) {
        std::string labels = canonical(metric.labels);
        if (!seen_.emplace(metric.name, labels).second)
            throw StoreError(
                fmt::format("recorded the metric {} twice; a label must tell the values apart",
                            metric_key(metric.name, metric.labels)));
        return labels;
    }

  private:
    std::set<std::pair<std::string, std::string>> seen_;  ///< name and labels
};

/// StoreError: as many times as values it has not, or a label is not finite.
void demand_storable(const TimeSeries& curve) {
    canonical(curve.labels);
    if (curve.t_s.size() != curve.values.size())
        throw StoreError(fmt::format("the curve {} has {} times but {} values", curve.name,
                                     curve.t_s.size(), curve.values.size()));
}

/// StoreError: a row is not as wide as the table.
void demand_storable(const Table& table) {
    for (std::size_t line = 0; line < table.rows.size(); ++line)
        if (table.rows[line].size() != table.columns.size())
            throw StoreError(
                fmt::format("row {} of the table {} has {} cells, the table {} columns", line,
                            table.name, table.rows[line].size(), table.columns.size()));
}

/// Removes the rows for which `demand` throws, and notes why.
template <class Rows, class Demand>
void keep_storable(Rows& rows, std::set<std::string>& why, Demand demand) {
    std::erase_if(rows, [&](const auto& row) {
        try {
            demand(row);
            return false;
        } catch (const StoreError& error) {
            why.emplace(error.what());
            return true;
        }
    });
}

}  // namespace

std::set<std::string> take_out_unstorable(Sample& sample) {
    std::set<std::string> why;
    RecordedMetrics recorded;
    keep_storable(sample.metrics, why,
                  [&](const MetricValue& metric) { recorded.labels_of(metric); });
    const auto demand = [](const auto& row) { demand_storable(row); };
    keep_storable(sample.series_data, why, demand);
    keep_storable(sample.tables, why, demand);
    return why;
}

// ---- the end: everything that hangs on it, in one transaction ---------------------------------

namespace {

using Ordinal = std::int64_t;

/// Runs a prepared INSERT whose first two columns are the sample and the ordinal.
template <class Rows, class Bind>
void insert_all(Database& database, const std::string& sample, const char* text, const Rows& rows,
                Bind bind) {
    if (rows.empty()) return;
    const Prepared insert = database.prepared(text);
    insert->bindNoCopy(1, sample);
    Ordinal ordinal = 0;
    for (const auto& row : rows) {
        insert->bind(2, ordinal++);
        bind(*insert, row);
        insert->exec();
        insert->reset();
    }
}

void insert_metrics(Database& database, const Sample& sample) {
    RecordedMetrics recorded;
    insert_all(database, sample.id,
               "INSERT INTO metric (sample, ordinal, name, labels, value) VALUES (?, ?, ?, ?, ?)",
               sample.metrics, [&](SQLite::Statement& insert, const MetricValue& metric) {
                   insert.bind(3, metric.name);
                   insert.bind(4, recorded.labels_of(metric));
                   insert.bind(5, metric.value);
               });
}

void insert_events(Database& database, const Sample& sample) {
    insert_all(
        database, sample.id,
        "INSERT INTO event (sample, ordinal, t_s, kind, rank, detail) VALUES (?, ?, ?, ?, ?, ?)",
        sample.events, [](SQLite::Statement& insert, const Event& event) {
            insert.bind(3, event.t_s);
            insert.bind(4, event.kind);
            insert.bind(5, event.rank);
            insert.bind(6, json_text(event.detail));
        });
}

void insert_time_series(Database& database, const Sample& sample) {
    insert_all(database, sample.id,
               "INSERT INTO time_series (sample, ordinal, name, unit, labels, points, t_s, value) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
               sample.series_data, [&](SQLite::Statement& insert, const TimeSeries& curve) {
                   demand_storable(curve);
                   insert.bind(3, curve.name);
                   insert.bind(4, curve.unit);
                   insert.bind(5, canonical(curve.labels));
                   insert.bind(6, static_cast<std::int64_t>(curve.values.size()));
                   bind_blob(insert, 7, blob_of(curve.t_s));
                   bind_blob(insert, 8, blob_of(curve.values));
               });
}

void insert_cells(Database& database, const Sample& sample, const Table& table, Ordinal number) {
    const Prepared column = database.prepared(
        "INSERT INTO data_table_column (sample, data_table, position, name, unit) "
        "VALUES (?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        column->bind(1, sample.id);
        column->bind(2, number);
        column->bind(3, static_cast<Ordinal>(i));
        column->bind(4, table.columns[i].name);
        column->bind(5, table.columns[i].unit);
        column->exec();
        column->reset();
    }
    const Prepared cell = database.prepared(
        "INSERT INTO data_table_cell (sample, data_table, line, position, value) "
        "VALUES (?, ?, ?, ?, ?)");
    for (std::size_t line = 0; line < table.rows.size(); ++line) {
        const auto& row = table.rows[line];
        for (std::size_t i = 0; i < row.size(); ++i) {
            cell->bind(1, sample.id);
            cell->bind(2, number);
            cell->bind(3, static_cast<Ordinal>(line));
            cell->bind(4, static_cast<Ordinal>(i));
            bind_cell(*cell, 5, row[i]);
            cell->exec();
            cell->reset();
        }
    }
}

void insert_tables(Database& database, const Sample& sample) {
    insert_all(database, sample.id,
               "INSERT INTO data_table (sample, ordinal, name) VALUES (?, ?, ?)", sample.tables,
               [](SQLite::Statement& insert, const Table& table) {
                   demand_storable(table);
                   insert.bind(3, table.name);
               });
    Ordinal number = 0;
    for (const auto& table : sample.tables) insert_cells(database, sample, table, number++);
}

void insert_artifacts(Database& database, const Sample& sample) {
    if (sample.artifacts.empty()) return;
    const Prepared content = database.prepared(
        "INSERT INTO artifact_blob (sha256, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING");
    insert_all(
        database, sample.id,
        "INSERT INTO artifact (sample, ordinal, name, media_type, sha256) VALUES (?, ?, ?, ?, ?)",
        sample.artifacts, [&](SQLite::Statement& insert, const Artifact& artifact) {
            const auto hash = sha256_hex(artifact.bytes);
            content->bind(1, hash);
            bind_blob(*content, 2, artifact.bytes);
            content->exec();
            content->reset();
            insert.bind(3, artifact.name);
            insert.bind(4, artifact.media_type);
            insert.bind(5, hash);
        });
}

void insert_hardware(Database& database, const Sample& sample) {
    insert_all(database, sample.id,
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

void end(Database& database, const Sample& sample) {
    const Prepared update = database.prepared(
        "UPDATE sample SET status = ?, reason = ?, seconds = ?, "
        "started = coalesce(nullif(?, ''), started) WHERE id = ? AND status = 'running'");
    update->bind(1, sample.status);
    update->bind(2, sample.reason);
    update->bind(3, sample.seconds);
    update->bind(4, sample.started);
    update->bind(5, sample.id);
    if (update->exec() != 1)
        throw StoreError(
            fmt::format("sample {} is not running: unknown, or ended already.", sample.id));
}

}  // namespace

void Store::finish_sample(const Sample& finished) {
    if (!is_final_status(finished.status))
        throw StoreError(
            fmt::format("\"{}\" is not a status a sample can end with.", finished.status));
    auto& database = impl_->database;
    database.write("store a finished sample", [&](SQLite::Database&) {
        end(database, finished);
        insert_metrics(database, finished);
        insert_events(database, finished);
        insert_time_series(database, finished);
        insert_tables(database, finished);
        insert_artifacts(database, finished);
        insert_hardware(database, finished);
    });
}

}  // namespace assay::store
