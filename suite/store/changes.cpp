// Store::changes_since(): what a cursor has not seen.
#include "suite/store/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "suite/store/described_rows.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

struct Counter {
    std::int64_t newest = 0, forgotten = 0;
};

Counter read_counter(Database& database) {
    const Prepared row = database.prepared("SELECT newest, forgotten FROM change_counter");
    if (!row->executeStep()) throw std::invalid_argument("no counter of changes");
    return {row->getColumn(0).getInt64(), row->getColumn(1).getInt64()};
}

/// The token of the program that wrote a change; nullopt: too long ago to know.
std::optional<std::int64_t> writer_of(Database& database, std::int64_t change) {
    const Prepared row = database.prepared(
        "SELECT token FROM change_writer WHERE first <= ? ORDER BY first DESC LIMIT 1");
    row->bind(1, change);
    if (!row->executeStep()) return std::nullopt;
    return row->getColumn(0).getInt64();
}

/// What the cursor has seen is what the file held at that change, and all removals since are known.
bool continues(Database& database, const Cursor& cursor, const Counter& counter) {
    return cursor.change >= std::max<std::int64_t>(counter.forgotten, 1) &&
           cursor.change <= counter.newest && writer_of(database, cursor.change) == cursor.writer;
}

void read_removals(Database& database, std::int64_t since, Changes& changes) {
    const Prepared rows = database.prepared(
        "SELECT what = 'session', id FROM removal WHERE change > ? "
        "ORDER BY change");
    rows->bind(1, since);
    while (rows->executeStep())
        (rows->getColumn(0).getInt() != 0 ? changes.removed_sessions : changes.removed_samples)
            .push_back(rows->getColumn(1).getString());
}

void read_sessions(SQLite::Database& sql, std::int64_t since, Changes& changes) {
    changes.sessions =
        select<Session>(sql, {"session", "WHERE last_change > ? ORDER BY last_change"}, since);
}

std::int64_t read_artifact_entries(Database& database, SampleChange& change, std::int64_t from) {
    const Prepared rows = database.prepared(
        "SELECT ordinal, name, media_type, length(bytes) FROM artifact JOIN artifact_blob USING "
        "(sha256) WHERE sample = ? AND ordinal >= ? ORDER BY ordinal");
    rows->bind(1, change.sample.id);
    rows->bind(2, from);
    while (rows->executeStep()) {
        from = rows->getColumn(0).getInt64() + 1;
        change.artifacts.push_back({rows->getColumn(1).getString(), rows->getColumn(2).getString(),
                                    rows->getColumn(3).getInt64()});
    }
    return from;
}

/// Reads the rows that come after those seen, which it moves on.
void read_new_rows(Database& database, SampleChange& change, RowsSeen& seen) {
    Sample& sample = change.sample;
    seen.metrics = read_metrics(database, sample, seen.metrics);
    seen.events = read_events(database, sample, seen.events);
    seen.series = read_series(database, sample.id, seen.series, change.series);
    seen.tables = read_tables(database, sample, seen.tables);
    seen.artifacts = read_artifact_entries(database, change, seen.artifacts);
    seen.hardware = read_hardware(database, sample, seen.hardware);
}

/// `running`: what was seen of samples that may have grown since; afterwards, of those that still
/// may.
void read_samples_since(Database& database, std::int64_t since,
                        std::map<std::string, RowsSeen>& running, Changes& changes) {
    SQLite::Statement rows(database.sql(),
                           fmt::format("SELECT {} FROM sample CROSS JOIN series ON series.id = "
                                       "sample.series WHERE sample.last_change > ? "
                                       "ORDER BY sample.last_change",
                                       sample_columns));
    rows.bind(1, since);
    while (rows.executeStep()) {
        SampleChange change;
        change.sample = sample_at(rows);
        const auto seen = running.try_emplace(change.sample.id).first;
        read_new_rows(database, change, seen->second);
        if (is_final_status(change.sample.status)) running.erase(seen);
        changes.samples.push_back(std::move(change));
    }
}

}  // namespace

Changes Store::changes_since(const Cursor& cursor) const {
    auto& database = impl_->database;
    return database.read("read what changed", [&](SQLite::Database& sql) {
        const Counter counter = read_counter(database);
        Changes changes;
        changes.everything = !continues(database, cursor, counter);
        changes.next.change = counter.newest;
        changes.next.writer = writer_of(database, counter.newest).value_or(0);
        std::int64_t since = 0;
        if (!changes.everything) {
            since = cursor.change;
            changes.next.running = cursor.running;
            if (since == counter.newest) return changes;
            read_removals(database, since, changes);
            for (const std::string& id : changes.removed_samples) changes.next.running.erase(id);
        }
        read_sessions(sql, since, changes);
        read_samples_since(database, since, changes.next.running, changes);
        return changes;
    });
}

Cursor Store::before_what_runs() const {
    auto& database = impl_->database;
    return database.read("look for what is running", [&](SQLite::Database& sql) {
        SQLite::Statement first(
            sql,
            "SELECT min(last_change) FROM (SELECT last_change FROM session WHERE state = 'running' "
            "UNION "
            "ALL SELECT sample.last_change FROM session CROSS JOIN sample ON sample.session = "
            "session.id WHERE session.state = 'running')");
        first.executeStep();
        Cursor cursor;
        cursor.change = first.getColumn(0).isNull() ? read_counter(database).newest
                                                    : first.getColumn(0).getInt64() - 1;
        cursor.writer = writer_of(database, cursor.change).value_or(0);
        return cursor;
    });
}

}  // namespace assay::store
