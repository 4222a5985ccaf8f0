// Samples, written: begun, tried again, grown, ended. What hangs on them: write_rows.cpp.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <bit>

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

// ---- its rows, and the end ----------------------------------------------------------------------

namespace {

[[noreturn]] void refuse_not_running(const Sample& sample) {
    throw StoreError(
        fmt::format("sample {} is not running: unknown, or ended already.", sample.id));
}

/// Its new rows are a change of it.
void note_growth(Database& database, const Sample& sample) {
    database.prepared("UPDATE change_counter SET newest = newest + 1")->exec();
    const Prepared update = database.prepared(
        "UPDATE sample SET last_change = (SELECT newest FROM change_counter) "
        "WHERE id = ? AND status = 'running'");
    update->bind(1, sample.id);
    if (update->exec() != 1) refuse_not_running(sample);
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
    if (update->exec() != 1) refuse_not_running(sample);
}

}  // namespace

bool Store::add_to_sample(const Sample& part) {
    auto& database = impl_->database;
    return database.write_unless_busy("store what a sample recorded", [&](SQLite::Database&) {
        note_growth(database, part);
        insert_rows(database, part);
    });
}

void Store::finish_sample(const Sample& finished) {
    if (!is_final_status(finished.status))
        throw StoreError(
            fmt::format("\"{}\" is not a status a sample can end with.", finished.status));
    auto& database = impl_->database;
    database.write("store a finished sample", [&](SQLite::Database&) {
        end(database, finished);
        insert_rows(database, finished);
    });
}

}  // namespace assay::store
