// What a sample recorded, written: what of it can be stored, and its rows.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "suite/base/sha256.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {

// ---- what can be stored -------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse_second(const MetricValue& metric) {
    throw StoreError(fmt::format("recorded the metric {} twice; a label must tell the values apart",
                                 metric_key(metric.name, metric.labels)));
}

[[noreturn]] void refuse_unit(const TimeSeries& chunk, std::string_view unit) {
    throw StoreError(fmt::format("the curve {} is in '{}' first and in '{}' later",
                                 metric_key(chunk.name, chunk.labels), unit, chunk.unit));
}

/// StoreError: as many times as values it has not.
void demand_equal_lengths(const TimeSeries& curve) {
    if (curve.t_s.size() != curve.values.size())
        throw StoreError(fmt::format("the curve {} has {} times but {} values", curve.name,
                                     curve.t_s.size(), curve.values.size()));
}

/// StoreError: a row is not as wide as the table.
void demand_equal_widths(const Table& table) {
    for (std::size_t line = 0; line < table.rows.size(); ++line)
        if (table.rows[line].size() != table.columns.size())
            throw StoreError(
                fmt::format("row {} of the table {} has {} cells, the table {} columns", line,
                            table.name, table.rows[line].size(), table.columns.size()));
}

template <class Demand>
std::optional<std::string> sentence_of(Demand demand) {
    try {
        demand();
        return std::nullopt;
    } catch (const StoreError& error) {
        return error.what();
    }
}

}  // namespace

std::optional<std::string> RowCheck::refusal(const MetricValue& metric) {
    return sentence_of([&] {
        if (!metrics_.emplace(metric.name, canonical(metric.labels)).second) refuse_second(metric);
    });
}

std::optional<std::string> RowCheck::refusal(const TimeSeries& curve) {
    return sentence_of([&] {
        const std::string labels = canonical(curve.labels);
        demand_equal_lengths(curve);
        if (!curve.grows) return;
        const auto [of, is_new] = units_.try_emplace({curve.name, labels}, curve.unit);
        if (of->second != curve.unit) refuse_unit(curve, of->second);
    });
}

std::optional<std::string> RowCheck::refusal(const Table& table) {
    return sentence_of([&] { demand_equal_widths(table); });
}

// ---- its rows -----------------------------------------------------------------------------------

namespace {

using Ordinal = std::int64_t;

/// The ordinal after those that are there.
Ordinal next_ordinal(Database& database, const char* literal, const std::string& sample) {
    const Prepared find = database.prepared(literal);
    find->bind(1, sample);
    find->executeStep();
    return find->getColumn(0).getInt64();
}

/// Of one table: how to find the next ordinal of a sample, and an INSERT whose first two columns
/// are the sample and the ordinal.
struct Target {
    const char *next, *insert;
};

/// Calls `bind(insert, row, ordinal)` for each row, then runs the INSERT; `refuse(row)` where it
/// inserts nothing. Returns the first ordinal.
template <class Rows, class Bind, class Refuse>
Ordinal insert_all(Database& database, const std::string& sample, const Target& target,
                   const Rows& rows, Bind bind, Refuse refuse) {
    if (rows.empty()) return 0;
    const Ordinal first = next_ordinal(database, target.next, sample);
    const Prepared insert = database.prepared(target.insert);
    insert->bindNoCopy(1, sample);
    Ordinal ordinal = first;
    for (const auto& row : rows) {
        insert->bind(2, ordinal);
        bind(*insert, row, ordinal++);
        if (insert->exec() == 0) refuse(row);
        insert->reset();
    }
    return first;
}

template <class Rows, class Bind>
Ordinal insert_all(Database& database, const std::string& sample, const Target& target,
                   const Rows& rows, Bind bind) {
    return insert_all(database, sample, target, rows, bind, [](const auto&) {});
}

void insert_metrics(Database& database, const Sample& sample) {
    constexpr Target target{
        "SELECT coalesce(max(ordinal) + 1, 0) FROM metric WHERE sample = ?",
        "INSERT INTO metric (sample, ordinal, name, labels, value) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (sample, name, labels) DO NOTHING"};
    insert_all(
        database, sample.id, target, sample.metrics,
        [](SQLite::Statement& insert, const MetricValue& metric, Ordinal) {
            insert.bind(3, metric.name);
            insert.bind(4, canonical(metric.labels));
            insert.bind(5, metric.value);
        },
        refuse_second);
}

void insert_events(Database& database, const Sample& sample) {
    constexpr Target target{
        "SELECT coalesce(max(ordinal) + 1, 0) FROM event WHERE sample = ?",
        "INSERT INTO event (sample, ordinal, t_s, kind, rank, detail) VALUES (?, ?, ?, ?, ?, ?)"};
    insert_all(database, sample.id, target, sample.events,
               [](SQLite::Statement& insert, const Event& event, Ordinal) {
                   insert.bind(3, event.t_s);
                   insert.bind(4, event.kind);
                   insert.bind(5, event.rank);
                   insert.bind(6, json_text(event.detail));
               });
}

/// The curve that a chunk belongs to: that of its first chunk, which it is itself where there is
/// none yet.
Ordinal curve_of(Database& database, const std::string& sample, const TimeSeries& chunk,
                 const std::string& labels, Ordinal own) {
    const Prepared find = database.prepared(
        "SELECT ordinal, unit FROM time_series WHERE sample = ? AND name = ? AND labels = ? AND "
        "curve = ordinal");
    find->bind(1, sample);
    find->bind(2, chunk.name);
    find->bind(3, labels);
    if (!find->executeStep()) return own;
    if (const std::string unit = find->getColumn(1).getString(); unit != chunk.unit)
        refuse_unit(chunk, unit);
    return find->getColumn(0).getInt64();
}

void insert_time_series(Database& database, const Sample& sample) {
    constexpr Target target{
        "SELECT coalesce(max(ordinal) + 1, 0) FROM time_series WHERE sample = ?",
        "INSERT INTO time_series (sample, ordinal, name, unit, labels, points, t_s, value, curve) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    insert_all(database, sample.id, target, sample.series_data,
               [&](SQLite::Statement& insert, const TimeSeries& curve, Ordinal ordinal) {
                   demand_equal_lengths(curve);
                   const std::string labels = canonical(curve.labels);
                   insert.bind(3, curve.name);
                   insert.bind(4, curve.unit);
                   insert.bind(5, labels);
                   insert.bind(6, static_cast<std::int64_t>(curve.values.size()));
                   bind_blob(insert, 7, blob_of(curve.t_s));
                   bind_blob(insert, 8, blob_of(curve.values));
                   if (curve.grows)
                       insert.bind(9, curve_of(database, sample.id, curve, labels, ordinal));
                   else
                       insert.bind(9);
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
    constexpr Target target{"SELECT coalesce(max(ordinal) + 1, 0) FROM data_table WHERE sample = ?",
                            "INSERT INTO data_table (sample, ordinal, name) VALUES (?, ?, ?)"};
    Ordinal number = insert_all(database, sample.id, target, sample.tables,
                                [](SQLite::Statement& insert, const Table& table, Ordinal) {
                                    demand_equal_widths(table);
                                    insert.bind(3, table.name);
                                });
    for (const auto& table : sample.tables) insert_cells(database, sample, table, number++);
}

void insert_artifacts(Database& database, const Sample& sample) {
    if (sample.artifacts.empty()) return;
    constexpr Target target{
        "SELECT coalesce(max(ordinal) + 1, 0) FROM artifact WHERE sample = ?",
        "INSERT INTO artifact (sample, ordinal, name, media_type, sha256) VALUES (?, ?, ?, ?, ?)"};
    const Prepared content = database.prepared(
        "INSERT INTO artifact_blob (sha256, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING");
    insert_all(database, sample.id, target, sample.artifacts,
               [&](SQLite::Statement& insert, const Artifact& artifact, Ordinal) {
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
    constexpr Target target{
        "SELECT coalesce(max(ordinal) + 1, 0) FROM hardware WHERE sample = ?",
        "INSERT INTO hardware (sample, ordinal, t_s, device, clock_hz, memory_clock_hz, "
        "temperature_c, power_w, throttle_reasons) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    insert_all(database, sample.id, target, sample.hardware,
               [](SQLite::Statement& insert, const HardwareReading& reading, Ordinal) {
                   insert.bind(3, reading.t_s);
                   insert.bind(4, reading.device);
                   bind_optional(insert, 5, reading.clock_hz);
                   bind_optional(insert, 6, reading.memory_clock_hz);
                   bind_optional(insert, 7, reading.temperature_c);
                   bind_optional(insert, 8, reading.power_w);
                   insert.bind(9, reading.throttle_reasons);
               });
}

}  // namespace

void insert_rows(Database& database, const Sample& sample) {
    insert_metrics(database, sample);
    insert_events(database, sample);
    insert_time_series(database, sample);
    insert_tables(database, sample);
    insert_artifacts(database, sample);
    insert_hardware(database, sample);
}

}  // namespace assay::store
