// Merging files, whole or in part: copies what another results database knows and this one does
// not.
#include <fmt/format.h>

#include <cctype>

#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

/// A path as SQLite's URI for reading only.
std::string read_only_uri(const std::filesystem::path& file) {
    std::string uri = "file:";
    for (const unsigned char c : file.string()) {
        const bool plain = std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_';
        uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
    }
    return uri + "?mode=ro";
}

std::string columns(SQLite::Database& sql, std::string_view table) {
    SQLite::Statement rows(
        sql, fmt::format("SELECT group_concat(name, ', ') FROM pragma_table_info('{}')", table));
    rows.executeStep();
    return rows.getColumn(0).getString();
}

/// Copies the rows of `table` that `which` selects; what is here already stays as it is.
long copy(SQLite::Database& sql, std::string_view table, std::string_view which) {
    const auto names = columns(sql, table);
    return sql.exec(fmt::format(
        "INSERT INTO main.{0} ({1}) SELECT {1} FROM other.{0} WHERE {2} ON CONFLICT DO NOTHING",
        table, names, which));
}

class Attached {
  public:
    Attached(SQLite::Database& sql, const std::filesystem::path& file) : sql_(sql) {
        SQLite::Statement attach(sql_, "ATTACH DATABASE ? AS other");
        attach.bind(1, read_only_uri(file));
        attach.exec();
    }
    ~Attached() {
        for (const char* table : {"arriving", "incoming", "chosen_series", "chosen_session"})
            sql_.tryExec(fmt::format("DROP TABLE IF EXISTS temp.{}", table));
        sql_.tryExec("DETACH DATABASE other");
    }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

  private:
    SQLite::Database& sql_;
};

/// Fills temp.chosen_session and temp.chosen_series with ids of the other file.
void choose(SQLite::Database& sql, const Selection& which) {
    sql.exec(
        "CREATE TEMP TABLE chosen_series (id TEXT PRIMARY KEY) WITHOUT ROWID;"
        "CREATE TEMP TABLE chosen_session (id TEXT PRIMARY KEY) WITHOUT ROWID");
    const auto run = [&](const char* text, const auto&... parameters) {
        SQLite::Statement statement(sql, text);
        int index = 0;
        (statement.bind(++index, parameters), ...);
        statement.exec();
    };
    if (which.experiments.empty()) run("INSERT INTO chosen_series SELECT id FROM other.series");
    for (const auto& pattern : which.experiments)
        run("INSERT OR IGNORE INTO chosen_series SELECT id FROM other.series WHERE experiment "
            "GLOB ? OR experiment = ?",
            pattern, pattern);
    if (which.sessions.empty())
        run("INSERT INTO chosen_session SELECT id FROM other.session WHERE started >= ?",
            which.since);
    for (const auto& session : which.sessions)
        run("INSERT OR IGNORE INTO chosen_session SELECT id FROM other.session WHERE id = ? AND "
            "started >= ?",
            session, which.since);
    if (!which.experiments.empty())
        run("DELETE FROM chosen_session WHERE NOT EXISTS (SELECT 1 FROM other.sample "
            "WHERE session = chosen_session.id AND series IN temp.chosen_series)");
}

/// A metric has one unit in a file: values in another one would be compared as if they were equal.
void refuse_other_units(SQLite::Database& sql) {
    SQLite::Statement other(
        sql,
        "SELECT experiment, name, theirs.unit, mine.unit FROM other.metric_unit AS theirs "
        "JOIN main.metric_unit AS mine USING (experiment, name) WHERE theirs.unit <> mine.unit "
        "AND experiment IN (SELECT experiment FROM other.series WHERE id IN temp.chosen_series) "
        "LIMIT 1");
    if (!other.executeStep()) return;
    const auto quoted = [&](int column) {
        return fmt::format("'{}'", other.getColumn(column).getString());
    };
    throw StoreError(
        fmt::format("the metric {} of {} is in {} there and in {} here; convert its values to one "
                    "unit, or keep them in a database of their own.",
                    quoted(1), other.getColumn(0).getString(), quoted(2), quoted(3)));
}

long copy_sessions(SQLite::Database& sql, const Selection& which) {
    copy(sql, "machine",
         which.all() ? "true"
                     : "fingerprint IN (SELECT machine FROM other.session WHERE id IN "
                       "temp.chosen_session)");
    sql.exec(
        "CREATE TEMP TABLE arriving AS SELECT id FROM temp.chosen_session WHERE id NOT IN "
        "(SELECT id FROM main.session)");
    const long here = static_cast<long>(
        sql.execAndGet("SELECT coalesce(max(arrival), 0) FROM main.session").getInt64());
    const long added = copy(sql, "session", "id IN temp.chosen_session");
    // They come after all that is here, in the order that they had.
    sql.exec(fmt::format(
        "UPDATE main.session SET arrival = {} + placed.place FROM (SELECT id, row_number() OVER "
        "(ORDER BY arrival, started, id) AS place FROM other.session WHERE id IN temp.arriving) AS "
        "placed WHERE placed.id = main.session.id",
        here));
    // Their runner is none of ours, and may have got further by the time of the next merge.
    sql.exec(
        "UPDATE main.session SET owner = 0, pid = 0, "
        "state = CASE state WHEN 'running' THEN 'interrupted' ELSE state END WHERE id IN "
        "temp.arriving");
    sql.exec(
        "UPDATE main.session SET state = theirs.state, finished = theirs.finished "
        "FROM other.session AS theirs WHERE theirs.id = main.session.id "
        "AND theirs.id IN temp.chosen_session "
        "AND main.session.state = 'interrupted' AND theirs.state = 'finished'");
    return added;
}

/// A sample that failed or was interrupted gives way to a later, successful attempt at it.
constexpr const char* superseded =
    "SELECT mine.id FROM main.sample AS mine JOIN other.sample AS theirs USING (session, series, "
    "seed, round) "
    "WHERE mine.status NOT IN ('ok', 'running') AND theirs.status = 'ok' AND mine.id <> theirs.id "
    "AND theirs.session IN temp.chosen_session AND theirs.series IN temp.chosen_series";

long copy_samples(SQLite::Database& sql) {
    copy(sql, "series",
         "id IN temp.chosen_series AND id IN (SELECT series FROM other.sample "
         "WHERE status <> 'running' AND session IN temp.chosen_session)");
    SQLite::Statement outdated(sql, superseded);
    std::vector<std::string> ids;
    while (outdated.executeStep()) ids.push_back(outdated.getColumn(0).getString());
    for (const auto& id : ids) remove_attempt(sql, id);
    sql.exec(
        "CREATE TEMP TABLE incoming AS SELECT id FROM other.sample AS theirs WHERE status <> "
        "'running' "
        "AND session IN temp.chosen_session AND series IN temp.chosen_series "
        "AND NOT EXISTS (SELECT 1 FROM main.sample WHERE id = theirs.id) "
        "AND NOT EXISTS (SELECT 1 FROM main.sample AS mine WHERE mine.session = theirs.session "
        "AND mine.series = theirs.series AND mine.seed = theirs.seed AND mine.round = "
        "theirs.round)");
    const long added = copy(sql, "sample", "id IN temp.incoming");
    copy(sql, "artifact_blob",
         "sha256 IN (SELECT sha256 FROM other.artifact WHERE sample IN temp.incoming)");
    // Parents before children: foreign keys are checked at once.
    for (const auto* table : {"metric", "event", "time_series", "data_table", "data_table_column",
                              "data_table_cell", "artifact", "hardware"})
        copy(sql, table, "sample IN temp.incoming");
    sql.exec(
        "DELETE FROM main.artifact_blob WHERE sha256 NOT IN (SELECT sha256 FROM main.artifact)");
    sql.exec("DELETE FROM main.series WHERE id NOT IN (SELECT series FROM main.sample)");
    return added;
}

void copy_references(SQLite::Database& sql, const Selection& which) {
    const bool all = which.all();
    copy(sql, "claim_check", all ? "true" : "session IN temp.chosen_session");
    copy(sql, "calibration", all ? "true" : "hash IN (SELECT calibration FROM main.series)");
    copy(sql, "baseline", all ? "true" : "session IN temp.chosen_session");
    copy(sql, "annotation",
         "session IN temp.chosen_session OR sample IN (SELECT id FROM main.sample)");
    copy(sql, "metric_unit", "experiment IN (SELECT experiment FROM main.series)");
    // Which way is better may have been stated later.
    sql.exec(
        "UPDATE main.metric_unit SET better = theirs.better FROM other.metric_unit AS theirs WHERE "
        "theirs.experiment = main.metric_unit.experiment AND theirs.name = main.metric_unit.name "
        "AND main.metric_unit.better = 'none' AND theirs.better <> 'none'");
}

/// What the nightly gate knows, when everything is merged. A night that still runs comes later; of
/// a regression that both know, the newer state counts, with all its steps.
void copy_gate(SQLite::Database& sql) {
    copy(sql, "night", "finished IS NOT NULL");
    copy(sql, "gate_row", "true");
    copy(sql, "night_row", "night IN (SELECT id FROM other.night WHERE finished IS NOT NULL)");
    sql.exec(
        "DELETE FROM main.regression WHERE EXISTS (SELECT 1 FROM other.regression AS theirs "
        "WHERE theirs.id = main.regression.id AND theirs.changed > main.regression.changed)");
    copy(sql, "regression", "true");
    copy(
        sql, "regression_step",
        "regression IN (SELECT id FROM other.regression JOIN main.regression USING (id, changed))");
    copy(sql, "accepted_level", "true");
    copy(sql, "mute", "true");
    sql.exec(
        "UPDATE main.mute SET ended = theirs.ended, ended_by = theirs.ended_by, ended_why = "
        "theirs.ended_why FROM other.mute AS theirs WHERE theirs.pattern = main.mute.pattern AND "
        "theirs.metric = main.mute.metric AND theirs.at = main.mute.at AND theirs.ended IS NOT "
        "NULL AND main.mute.ended IS NULL");
}

}  // namespace

Store::Merged Store::merge(const std::filesystem::path& file, const Selection& which) {
    auto& database = impl_->database;
    // Opened once for reading on its own: that refuses foreign files and newer schema versions, and
    // makes a private copy where nothing may be written or the schema is older.
    auto other = Database::open_older(file);
    if (other.file() == database.file())
        throw StoreError(
            fmt::format("{}: a database cannot be merged into itself.", path().string()));
    return with_store_errors(path(), fmt::format("merge {} into it", other.file().string()), [&] {
        auto& sql = database.sql();
        Attached attached(sql, other.opened());
        return database.write("merge", [&](SQLite::Database&) {
            Merged merged;
            choose(sql, which);
            refuse_other_units(sql);
            merged.sessions = copy_sessions(sql, which);
            merged.samples = copy_samples(sql);
            copy_references(sql, which);
            if (which.all()) copy_gate(sql);
            merged.skipped =
                static_cast<long>(sql.execAndGet("SELECT count(*) FROM other.sample WHERE session "
                                                 "IN temp.chosen_session AND series IN "
                                                 "temp.chosen_series")
                                      .getInt64()) -
                merged.samples;
            return merged;
        });
    });
}

}  // namespace assay::store
