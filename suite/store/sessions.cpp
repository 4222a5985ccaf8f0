// Machines and sessions: as the runner writes them, and read again.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "suite/store/described_rows.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {

ASSAY_FIELDS(Machine, fingerprint, description)

namespace {

void interrupt_samples(SQLite::Database& sql, std::string_view session, std::string_view reason) {
    SQLite::Statement update(sql,
                             "UPDATE sample SET status = 'interrupted', reason = ? "
                             "WHERE session = ? AND status = 'running'");
    bind_text(update, 1, reason);
    bind_text(update, 2, session);
    update.exec();
}

struct Recorded {
    std::string id;
    bool runs = false;
    std::string date;
};

}  // namespace

std::vector<std::string> recorded_order(SQLite::Database& sql) {
    // Sessions of this file, and no others, have a process.
    SQLite::Statement rows(sql,
                           "SELECT id, coalesce(finished, started), pid <> 0, state = 'running' "
                           "FROM session ORDER BY arrival, started, id");
    const std::string now = now_utc();
    std::string newest;
    std::vector<Recorded> sessions;
    while (rows.executeStep()) {
        std::string ended = rows.getColumn(1).getString();
        if (ended <= now) newest = std::max(newest, ended);
        const bool is_of_this_file = rows.getColumn(2).getInt() != 0;
        sessions.push_back({rows.getColumn(0).getString(), rows.getColumn(3).getInt() != 0,
                            is_of_this_file ? newest : std::move(ended)});
    }
    std::stable_sort(sessions.begin(), sessions.end(), [](const Recorded& a, const Recorded& b) {
        return std::tie(a.runs, a.date) < std::tie(b.runs, b.date);
    });
    std::vector<std::string> ids;
    for (Recorded& session : sessions) ids.push_back(std::move(session.id));
    return ids;
}

std::map<std::string, long> recorded_places(SQLite::Database& sql) {
    std::map<std::string, long> places;
    for (std::string& id : recorded_order(sql))
        places.emplace(std::move(id), static_cast<long>(places.size()) + 1);
    return places;
}

SessionOwner owner_of(Database& database, std::string_view session) {
    const Prepared find = database.prepared("SELECT state, owner, pid FROM session WHERE id = ?");
    bind_text(*find, 1, session);
    if (!find->executeStep()) throw StoreError(fmt::format("there is no session {}.", session));
    return {find->getColumn(0).getString(), find->getColumn(1).getInt64(),
            find->getColumn(2).getInt64()};
}

void interrupt_dead_sessions(Database& database) {
    const auto dead = [&](SQLite::Database& sql) {
        std::vector<std::string> ids;
        SQLite::Statement find(
            sql, "SELECT id, owner FROM session WHERE state = 'running' ORDER BY arrival, id");
        while (find.executeStep())
            if (!database.runner().alive(find.getColumn(1).getInt64()))
                ids.push_back(find.getColumn(0).getString());
        return ids;
    };
    // Looked at first without the write lock: usually there is nothing to do.
    if (database.read("look for interrupted sessions", dead).empty()) return;
    database.write("mark interrupted sessions", [&](SQLite::Database& sql) {
        for (const auto& id : dead(sql)) {
            interrupt_samples(sql, id, "its runner ended before it was finished");
            SQLite::Statement update(
                sql, fmt::format("UPDATE session SET state = 'interrupted', owner = 0, finished = "
                                 "(SELECT max(started) FROM sample WHERE session = session.id), {} "
                                 "WHERE id = ?",
                                 as_the_newest));
            update.bind(1, id);
            update.exec();
        }
    });
}

std::string host_of(const nlohmann::json& suspects) {
    for (const char* key : {"host", "host_name"})
        if (suspects.is_object() && suspects.contains(key) && suspects.at(key).is_string())
            return suspects.at(key).get<std::string>();
    return {};
}

void Store::put_machine(const Machine& machine) {
    impl_->database.write("store the machine", [&](SQLite::Database& sql) {
        Insert<Machine> insert(sql,
                               {.table = "machine",
                                .then = "ON CONFLICT (fingerprint) DO UPDATE SET description = "
                                        "excluded.description"});
        insert(machine);
    });
}

std::optional<Machine> Store::machine(std::string_view fingerprint) const {
    return impl_->database.read("read the machine", [&](SQLite::Database& sql) {
        return first(select<Machine>(sql, {"machine", "WHERE fingerprint = ?"}, fingerprint));
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
        Session begun = session;
        begun.state = "running";
        if (begun.started.empty()) begun.started = now_utc();
        Insert<Session> insert(
            sql, {.table = "session",
                  .computed = {{"pid", std::to_string(getpid())},
                               {"owner", std::to_string(impl_->database.runner().token())},
                               {"arrival", "(SELECT coalesce(max(arrival), 0) + 1 FROM session)"}},
                  .left_out = {"finished"}});
        insert(begun);
    });
}

void Store::finish_session(std::string_view id, std::string_view state) {
    if (state != "finished" && state != "interrupted")
        throw StoreError(fmt::format("a session ends finished or interrupted, not \"{}\".", state));
    impl_->database.write("end the session", [&](SQLite::Database& sql) {
        owner_of(impl_->database, id);
        interrupt_samples(sql, id, "the session ended before it was finished");
        SQLite::Statement update(
            sql,
            fmt::format("UPDATE session SET state = ?, finished = ?, owner = 0, {} WHERE id = ?",
                        as_the_newest));
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
        SQLite::Statement update(
            sql, fmt::format("UPDATE session SET state = 'running', finished = NULL, pid = ?, "
                             "owner = ?, {} WHERE id = ?",
                             as_the_newest));
        update.bind(1, static_cast<std::int64_t>(getpid()));
        update.bind(2, ours);
        bind_text(update, 3, id);
        update.exec();
    });
}

void Store::add_suspect(std::string_view id, std::string_view name, std::string_view text) {
    impl_->database.write("add to a session", [&](SQLite::Database& sql) {
        owner_of(impl_->database, id);
        auto session = first(select<Session>(sql, {"session", "WHERE id = ?"}, id));
        session->suspects[std::string(name)] = text;
        SQLite::Statement update(sql, "UPDATE session SET suspects = ? WHERE id = ?");
        update.bind(1, json_text(session->suspects));
        bind_text(update, 2, id);
        update.exec();
    });
}

bool Store::has_living_runner(std::string_view session) const {
    auto& database = impl_->database;
    return database.read("look for a session's runner", [&](SQLite::Database&) {
        const SessionOwner owner = owner_of(database, session);
        return owner.state == "running" && runner_lives(database.file(), owner.token);
    });
}

std::vector<Session> Store::sessions() const {
    return impl_->database.read("list the sessions", [&](SQLite::Database& sql) {
        const std::map<std::string, long> places = recorded_places(sql);
        auto all = select<Session>(sql, {"session", ""});
        std::sort(all.begin(), all.end(), [&](const Session& a, const Session& b) {
            return places.at(a.id) > places.at(b.id);
        });
        return all;
    });
}

std::map<std::string, long> Store::places() const {
    return impl_->database.read("read the order of the sessions", recorded_places);
}

std::optional<Session> Store::session(std::string_view id) const {
    return impl_->database.read("read the session", [&](SQLite::Database& sql) {
        return first(select<Session>(sql, {"session", "WHERE id = ?"}, id));
    });
}

std::optional<Session> Store::newest_unfinished(std::string_view plan_hash,
                                                std::string_view build) const {
    return impl_->database.read("look for an unfinished session", [&](SQLite::Database& sql) {
        return first(select<Session>(
            sql,
            {"session",
             "WHERE plan_hash = ? AND build = ? AND state = 'interrupted' AND "
             "json_extract(suspects, '$.rerun') IS NULL ORDER BY arrival DESC, id DESC LIMIT 1"},
            plan_hash, build));
    });
}

std::optional<Session> Store::newest_of_plan(std::string_view plan_hash,
                                             std::string_view build) const {
    return impl_->database.read("look for a session", [&](SQLite::Database& sql) {
        return first(select<Session>(
            sql,
            {"session", "WHERE plan_hash = ? AND build = ? ORDER BY arrival DESC, id DESC LIMIT 1"},
            plan_hash, build));
    });
}

}  // namespace assay::store
