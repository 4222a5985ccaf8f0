// Machines, sessions, the beginning of samples, and claim checks, as the runner writes them.
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <set>

#include "suite/store/attempt.hpp"
#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/series_id.hpp"
#include "suite/store/uuid.hpp"

namespace assay::store {
namespace {

struct Owner {
    std::string state;
    std::int64_t token = 0, pid = 0;
};

Owner owner_of(Database& database, std::string_view session) {
    const Prepared find = database.prepared("SELECT state, owner, pid FROM session WHERE id = ?");
    bind_text(*find, 1, session);
    if (!find->executeStep()) throw StoreError(fmt::format("there is no session {}.", session));
    return {find->getColumn(0).getString(), find->getColumn(1).getInt64(),
            find->getColumn(2).getInt64()};
}

void interrupt_samples(SQLite::Database& sql, std::string_view session, std::string_view reason) {
    SQLite::Statement update(sql,
                             "UPDATE sample SET status = 'interrupted', reason = ? "
                             "WHERE session = ? AND status = 'running'");
    bind_text(update, 1, reason);
    bind_text(update, 2, session);
    update.exec();
}

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

void interrupt_dead_sessions(Database& database) {
    const auto dead = [&](SQLite::Database& sql) {
        std::set<std::string> ids;
        SQLite::Statement find(sql, "SELECT id, owner FROM session WHERE state = 'running'");
        while (find.executeStep())
            if (!database.runner().alive(find.getColumn(1).getInt64()))
                ids.insert(find.getColumn(0).getString());
        return ids;
    };
    // Looked at first without the write lock: usually there is nothing to do.
    if (database.read("look for interrupted sessions", dead).empty()) return;
    database.write("mark interrupted sessions", [&](SQLite::Database& sql) {
        for (const auto& id : dead(sql)) {
            interrupt_samples(sql, id, "its runner ended before it was finished");
            SQLite::Statement update(
                sql,
                "UPDATE session SET state = 'interrupted', owner = 0, finished = "
                "(SELECT max(started) FROM sample WHERE session = session.id) WHERE id = ?");
            update.bind(1, id);
            update.exec();
        }
    });
}

void Store::put_machine(const Machine& machine) {
    impl_->database.write("store the machine", [&](SQLite::Database& sql) {
        SQLite::Statement insert(
            sql,
            "INSERT INTO machine (fingerprint, description) VALUES (?, ?) "
            "ON CONFLICT (fingerprint) DO UPDATE SET description = excluded.description");
        insert.bind(1, machine.fingerprint);
        insert.bind(2, json_text(machine.description));
        insert.exec();
    });
}

void Store::begin_session(const Session& session) {
    impl_->database.write("begin a session", [&](SQLite::Database& sql) {
        SQLite::Statement known(sql, "SELECT 1 FROM machine WHERE fingerprint = ?");
        known.bind(1, session.machine);
        if (!known.executeStep())
            throw StoreError(
                fmt::format("session {} names the machine \"{}\", which has not been stored.",
                            session.id, session.machine));
        SQLite::Statement insert(
            sql,
            "INSERT INTO session (id, machine, command, plan_hash, build, suspects, "
            "started, state, planned, pid, owner, arrival) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, "
            "(SELECT coalesce(max(arrival), 0) + 1 FROM session))");
        insert.bind(1, session.id);
        insert.bind(2, session.machine);
        insert.bind(3, session.command);
        insert.bind(4, session.plan_hash);
        insert.bind(5, session.build);
        insert.bind(6, json_text(session.suspects));
        insert.bind(7, session.started.empty() ? now_utc() : session.started);
        insert.bind(8, static_cast<std::int64_t>(session.planned));
        insert.bind(9, static_cast<std::int64_t>(getpid()));
        insert.bind(10, impl_->database.runner().token());
        insert.exec();
    });
}

void Store::finish_session(std::string_view id, std::string_view state) {
    if (state != "finished" && state != "interrupted")
        throw StoreError(fmt::format("a session ends finished or interrupted, not \"{}\".", state));
    impl_->database.write("end the session", [&](SQLite::Database& sql) {
        owner_of(impl_->database, id);
        interrupt_samples(sql, id, "the session ended before it was finished");
        SQLite::Statement update(
            sql, "UPDATE session SET state = ?, finished = ?, owner = 0 WHERE id = ?");
        bind_text(update, 1, state);
        update.bind(2, now_utc());
        bind_text(update, 3, id);
        update.exec();
    });
    // Syncs what was only in the page cache. Where that fails (no room for the log's pages in the
    // file itself) everything still is in the log, so it is no failure of this session.
    impl_->database.sql().tryExec("PRAGMA wal_checkpoint(PASSIVE)");
}

void Store::resume_session(std::string_view id) {
    auto& database = impl_->database;
    database.write("resume the session", [&](SQLite::Database& sql) {
        const auto owner = owner_of(database, id);
        const auto ours = database.runner().token();
        if (owner.state == "running" && owner.token != ours && database.runner().alive(owner.token))
            throw StoreError(
                fmt::format("session {} is being run by process {}; wait for it, or start a new "
                            "session with --fresh.",
                            id, owner.pid));
        interrupt_samples(sql, id, "the session was resumed before it was finished");
        SQLite::Statement update(sql,
                                 "UPDATE session SET state = 'running', finished = NULL, pid = ?, "
                                 "owner = ? WHERE id = ?");
        update.bind(1, static_cast<std::int64_t>(getpid()));
        update.bind(2, ours);
        bind_text(update, 3, id);
        update.exec();
    });
}

void Store::add_suspect(std::string_view id, std::string_view name, std::string_view text) {
    impl_->database.write("add to a session", [&](SQLite::Database& sql) {
        owner_of(impl_->database, id);
        SQLite::Statement update(
            sql, "UPDATE session SET suspects = json_set(suspects, '$.' || ?, ?) WHERE id = ?");
        bind_text(update, 1, name);
        bind_text(update, 2, text);
        bind_text(update, 3, id);
        update.exec();
    });
}

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

void Store::put_claim_checks(std::string_view session, const std::vector<ClaimCheck>& checks) {
    impl_->database.write("store the claim checks", [&](SQLite::Database& sql) {
        SQLite::Statement insert(
            sql,
            "INSERT INTO claim_check (id, session, claim, at, ordinal, verdict, reason, "
            "provenance, obtained) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
        const auto at = now_utc();
        // Goes on where an earlier call of the same millisecond stopped, so that the later one is
        // newer.
        SQLite::Statement last(
            sql, "SELECT coalesce(max(ordinal) + 1, 0) FROM claim_check WHERE at = ?");
        last.bind(1, at);
        last.executeStep();
        auto ordinal = last.getColumn(0).getInt64();
        for (const auto& check : checks) {
            insert.bind(1, new_uuid());
            bind_text_or_null(insert, 2, session);
            insert.bind(3, check.claim);
            insert.bind(4, at);
            insert.bind(5, ordinal++);
            bind_text(insert, 6, to_string(check.verdict));
            insert.bind(7, check.reason);
            bind_text_or_null(insert, 8, check.provenance ? to_string(*check.provenance) : "");
            bind_optional(insert, 9, check.obtained);
            insert.exec();
            insert.reset();
        }
    });
}

}  // namespace assay::store
