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

Sample sample_at(const SQLite::Statement& row) {
    Sample sample;
    sample.id = row.getColumn(0).getString();
    sample.session = row.getColumn(1).getString();
    sample.series = row.getColumn(2).getString();
    sample.spec = spec_from_text(row.getColumn(3).getString());
    sample.status = row.getColumn(4).getString();
    sample.reason = row.getColumn(5).getString();
    sample.started = row.getColumn(6).getString();
    sample.seconds = row.getColumn(7).getDouble();
    sample.origin = {row.getColumn(8).getString(), row.getColumn(9).getString(),
                     row.getColumn(10).getString(), sample.session};
    return sample;
}

namespace {

// Of rows whose first column is the sample or the ordinal.

void add_metric(Sample& sample, const SQLite::Statement& row) {
    sample.metrics.push_back({row.getColumn(1).getString(),
                              case_from_text(row.getColumn(2).getString()),
                              real_or_nan(row.getColumn(3))});
}

void add_event(Sample& sample, const SQLite::Statement& row) {
    sample.events.push_back({real_or_nan(row.getColumn(1)), row.getColumn(2).getString(),
                             row.getColumn(3).getInt(),
                             nlohmann::json::parse(row.getColumn(4).getString())});
}

}  // namespace

std::vector<Sample> read_samples(SQLite::Database& sql, const std::string& selection,
                                 std::string_view parameter, std::string_view order) {
    SQLite::Statement rows(sql, fmt::format("SELECT {} FROM sample JOIN series ON series.id = "
                                            "sample.series WHERE sample.id IN ({}) ORDER BY {}",
                                            sample_columns, selection, order));
    bind_text(rows, 1, parameter);
    std::vector<Sample> samples;
    while (rows.executeStep()) samples.push_back(sample_at(rows));
    std::unordered_map<std::string, Sample*> by_id;
    for (auto& sample : samples) by_id.emplace(sample.id, &sample);
    read_attached(sql, "metric", "name, labels, value", selection, parameter, by_id, add_metric);
    read_attached(sql, "event", "t_s, kind, rank, detail", selection, parameter, by_id, add_event);
    return samples;
}

// ---- what hangs on one sample -------------------------------------------------------------------

namespace {

std::string blob(const SQLite::Column& column) {
    const auto* bytes = static_cast<const char*>(column.getBlob());
    return bytes ? std::string(bytes, static_cast<std::size_t>(column.getBytes())) : std::string();
}

/// Calls `add(row)` for each row that `literal` selects of a sample from an ordinal on; the first
/// column is the ordinal. Returns the one after the last.
template <class Add>
std::int64_t read_from(Database& database, const char* literal, const std::string& sample,
                       std::int64_t from, Add add) {
    const Prepared rows = database.prepared(literal);
    rows->bind(1, sample);
    rows->bind(2, from);
    while (rows->executeStep()) {
        from = rows->getColumn(0).getInt64() + 1;
        add(*rows);
    }
    return from;
}

/// Of a table that the sample recorded: columns and cells.
void read_cells(Database& database, const std::string& sample, std::int64_t number, Table& table) {
    const Prepared columns = database.prepared(
        "SELECT name, unit FROM data_table_column WHERE sample = ? AND data_table = ? "
        "ORDER BY position");
    columns->bind(1, sample);
    columns->bind(2, number);
    while (columns->executeStep())
        table.columns.push_back(
            {columns->getColumn(0).getString(), columns->getColumn(1).getString()});
    const Prepared cells = database.prepared(
        "SELECT position, value FROM data_table_cell WHERE sample = ? AND data_table = ? "
        "ORDER BY line, position");
    cells->bind(1, sample);
    cells->bind(2, number);
    while (cells->executeStep()) {
        if (cells->getColumn(0).getInt64() == 0) table.rows.emplace_back();
        if (table.rows.empty())
            throw std::invalid_argument("the table " + table.name + " has lost cells");
        table.rows.back().push_back(cell(cells->getColumn(1)));
    }
    for (const auto& row : table.rows)
        if (row.size() != table.columns.size())
            throw std::invalid_argument("the table " + table.name + " has lost cells");
}

/// Joins the chunks of each curve.
std::vector<TimeSeries> curves_of(std::vector<SeriesChunk> chunks) {
    std::vector<TimeSeries> curves;
    std::unordered_map<std::int64_t, std::size_t> index;
    for (SeriesChunk& chunk : chunks) {
        const auto [at, is_first] = index.emplace(chunk.curve, curves.size());
        if (is_first) {
            curves.push_back(std::move(chunk.points));
            continue;
        }
        TimeSeries& curve = curves[at->second];
        curve.t_s.insert(curve.t_s.end(), chunk.points.t_s.begin(), chunk.points.t_s.end());
        curve.values.insert(curve.values.end(), chunk.points.values.begin(),
                            chunk.points.values.end());
    }
    return curves;
}

void read_artifacts(SQLite::Database& sql, Sample& sample) {
    SQLite::Statement rows(
        sql,
        "SELECT name, media_type, bytes FROM artifact JOIN artifact_blob USING (sha256) "
        "WHERE sample = ? ORDER BY ordinal");
    rows.bind(1, sample.id);
    while (rows.executeStep())
        sample.artifacts.push_back({rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                                    blob(rows.getColumn(2))});
}

}  // namespace

std::int64_t read_metrics(Database& database, Sample& sample, std::int64_t from) {
    return read_from(database,
                     "SELECT ordinal, name, labels, value FROM metric WHERE sample = ? AND "
                     "ordinal >= ? ORDER BY ordinal",
                     sample.id, from,
                     [&](const SQLite::Statement& row) { add_metric(sample, row); });
}

std::int64_t read_events(Database& database, Sample& sample, std::int64_t from) {
    return read_from(database,
                     "SELECT ordinal, t_s, kind, rank, detail FROM event WHERE sample = ? AND "
                     "ordinal >= ? ORDER BY ordinal",
                     sample.id, from,
                     [&](const SQLite::Statement& row) { add_event(sample, row); });
}

std::int64_t read_series(Database& database, const std::string& sample, std::int64_t from,
                         std::vector<SeriesChunk>& chunks) {
    return read_from(
        database,
        "SELECT ordinal, name, unit, labels, t_s, value, points, curve FROM time_series "
        "WHERE sample = ? AND ordinal >= ? ORDER BY ordinal",
        sample, from, [&](const SQLite::Statement& row) {
            const bool grows = !row.getColumn(7).isNull();
            TimeSeries points{row.getColumn(1).getString(),
                              row.getColumn(2).getString(),
                              case_from_text(row.getColumn(3).getString()),
                              doubles_of(blob(row.getColumn(4))),
                              doubles_of(blob(row.getColumn(5))),
                              grows};
            const auto count = static_cast<std::size_t>(row.getColumn(6).getInt64());
            if (points.t_s.size() != count || points.values.size() != count)
                throw std::invalid_argument("the curve " + points.name + " has lost points");
            chunks.push_back({row.getColumn(grows ? 7 : 0).getInt64(), std::move(points)});
        });
}

std::int64_t read_tables(Database& database, Sample& sample, std::int64_t from) {
    return read_from(
        database,
        "SELECT ordinal, name FROM data_table WHERE sample = ? AND ordinal >= ? ORDER BY ordinal",
        sample.id, from, [&](const SQLite::Statement& row) {
            Table table{row.getColumn(1).getString(), {}, {}};
            read_cells(database, sample.id, row.getColumn(0).getInt64(), table);
            sample.tables.push_back(std::move(table));
        });
}

std::int64_t read_hardware(Database& database, Sample& sample, std::int64_t from) {
    return read_from(
        database,
        "SELECT ordinal, t_s, device, clock_hz, memory_clock_hz, temperature_c, power_w, "
        "throttle_reasons FROM hardware WHERE sample = ? AND ordinal >= ? ORDER BY ordinal",
        sample.id, from, [&](const SQLite::Statement& row) {
            sample.hardware.push_back(
                {real_or_nan(row.getColumn(1)), row.getColumn(2).getString(),
                 optional_real(row.getColumn(3)), optional_real(row.getColumn(4)),
                 optional_real(row.getColumn(5)), optional_real(row.getColumn(6)),
                 row.getColumn(7).getString()});
        });
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
        Sample& whole = found.front();
        std::vector<SeriesChunk> chunks;
        read_series(impl_->database, whole.id, 0, chunks);
        whole.series_data = curves_of(std::move(chunks));
        read_tables(impl_->database, whole, 0);
        read_artifacts(sql, whole);
        read_hardware(impl_->database, whole, 0);
        return std::move(whole);
    });
}

}  // namespace assay::store
