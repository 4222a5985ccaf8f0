// What a Store holds, and what the files that implement its members use of one another.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/store/database.hpp"
#include "suite/store/records.hpp"

namespace assay::store {

struct Store::Impl {
    Database database;
};

ASSAY_FIELDS(Session, id, machine, command, plan_hash, build, suspects, started, finished, state,
             planned, arrival)

/// Whole id of the session or sample (`table`) that `prefix` names. StoreError when it is too
/// short, unknown or ambiguous.
std::string resolve(SQLite::Database&, std::string_view table, std::string_view prefix);
/// Whether any id of the table begins so.
bool begins_any(SQLite::Database&, std::string_view table, std::string_view prefix);

/// Ids of all sessions in the order in which they were recorded, the oldest first; what still runs
/// comes last. That of sessions of this file is the order in which they ended (or were begun): no
/// clock says it, since it may have been set back. What came from elsewhere stands by its date
/// among them; the dates of this file's sessions count for that only as far as they go on and do
/// not lie in the future.
std::vector<std::string> recorded_order(SQLite::Database&);
/// The place of each in that order, from 1 on.
std::map<std::string, long> recorded_places(SQLite::Database&);

/// Gives a session of this file the place of what is recorded now, in an UPDATE.
inline constexpr const char* as_the_newest =
    "arrival = (SELECT coalesce(max(arrival), 0) + 1 FROM session)";

/// Who runs a session; `token` is that of its RunnerLock.
struct SessionOwner {
    std::string state;
    std::int64_t token = 0, pid = 0;
};
/// StoreError: there is no such session.
SessionOwner owner_of(Database&, std::string_view session);
/// Moves sessions and samples that a dead runner left running to interrupted.
void interrupt_dead_sessions(Database&);

/// Samples whose ids the query `selection` (a SELECT of one column, with one '?' for `parameter`)
/// yields, with their metrics and events, ordered by `order` (columns of sample and series).
std::vector<Sample> read_samples(SQLite::Database&, const std::string& selection,
                                 std::string_view parameter, std::string_view order);

/// The columns of `sample JOIN series` for a SELECT, and the sample in them, without its rows.
inline constexpr const char* sample_columns =
    "sample.id, session, series, spec, status, reason, sample.started, seconds, hardware, "
    "calibration, data";
Sample sample_at(const SQLite::Statement& row);

// What hangs on sample.id, from an ordinal on; it is appended. Each returns the ordinal that comes
// after the last.
std::int64_t read_metrics(Database&, Sample&, std::int64_t from);
std::int64_t read_events(Database&, Sample&, std::int64_t from);
std::int64_t read_tables(Database&, Sample&, std::int64_t from);
std::int64_t read_hardware(Database&, Sample&, std::int64_t from);
std::int64_t read_series(Database&, const std::string& sample, std::int64_t from,
                         std::vector<SeriesChunk>&);

/// Inserts what hangs on the sample, after what is there. StoreError as Store::finish_sample().
void insert_rows(Database&, const Sample&);

/// Deletes a sample that did not succeed and gives way to another attempt, with what hangs on it;
/// what a person wrote about it stays, with the session.
void remove_attempt(SQLite::Database&, const std::string& sample);

}  // namespace assay::store
