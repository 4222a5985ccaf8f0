// What reports, claim checks and the command line ask for.
#include <fmt/format.h>

#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/sample_rows.hpp"

namespace assay::store {
namespace {

constexpr const char* session_columns =
    "id, machine, command, plan_hash, build, suspects, started, finished, state, planned, arrival";

Session session_row(const SQLite::Statement& row) {
    Session session;
    session.id = row.getColumn(0).getString();
    session.machine = row.getColumn(1).getString();
    session.command = row.getColumn(2).getString();
    session.plan_hash = row.getColumn(3).getString();
    session.build = row.getColumn(4).getString();
    session.suspects = nlohmann::json::parse(row.getColumn(5).getString());
    session.started = row.getColumn(6).getString();
    session.finished = text_or_empty(row.getColumn(7));
    session.state = row.getColumn(8).getString();
    session.planned = static_cast<long>(row.getColumn(9).getInt64());
    session.arrival = static_cast<long>(row.getColumn(10).getInt64());
    return session;
}

Verdict verdict_of(const std::string& text) {
    for (const auto verdict :
         {Verdict::supported, Verdict::contradicted, Verdict::calibrated, Verdict::open_discrepancy,
          Verdict::not_checkable_here, Verdict::not_run})
        if (to_string(verdict) == text) return verdict;
    throw std::invalid_argument("the verdict \"" + text + "\"");
}

}  // namespace

std::vector<Session> Store::sessions() const {
    return impl_->database.read("list the sessions", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql, fmt::format("SELECT {} FROM session ORDER BY started DESC, arrival DESC, id DESC",
                             session_columns));
        std::vector<Session> all;
        while (rows.executeStep()) all.push_back(session_row(rows));
        return all;
    });
}

std::optional<Session> Store::session(std::string_view id) const {
    return impl_->database.read("read the session", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql,
                               fmt::format("SELECT {} FROM session WHERE id = ?", session_columns));
        bind_text(rows, 1, id);
        return rows.executeStep() ? std::optional(session_row(rows)) : std::nullopt;
    });
}

std::optional<Session> Store::newest_unfinished(std::string_view plan_hash,
                                                std::string_view build) const {
    return impl_->database.read("look for an unfinished session", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql, fmt::format("SELECT {} FROM session WHERE plan_hash = ? AND build = ? AND "
                             "state = 'interrupted' AND json_extract(suspects, '$.rerun') IS NULL "
                             "ORDER BY started DESC, arrival DESC, id DESC LIMIT 1",
                             session_columns));
        bind_text(rows, 1, plan_hash);
        bind_text(rows, 2, build);
        return rows.executeStep() ? std::optional(session_row(rows)) : std::nullopt;
    });
}

std::optional<Machine> Store::machine(std::string_view fingerprint) const {
    return impl_->database.read("read the machine", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql, "SELECT fingerprint, description FROM machine WHERE fingerprint = ?");
        bind_text(rows, 1, fingerprint);
        if (!rows.executeStep()) return std::optional<Machine>();
        return std::optional(Machine{rows.getColumn(0).getString(),
                                     nlohmann::json::parse(rows.getColumn(1).getString())});
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
        read_rest(sql, found.front());
        return std::move(found.front());
    });
}

std::vector<StoredCheck> Store::newest_claim_checks() const {
    return impl_->database.read("read the claim checks", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql,
            "SELECT session, claim, at, verdict, reason, provenance, obtained FROM ("
            "SELECT *, row_number() OVER (PARTITION BY claim ORDER BY at DESC, ordinal DESC, id) "
            "AS age FROM claim_check) WHERE age = 1 ORDER BY claim");
        std::vector<StoredCheck> all;
        while (rows.executeStep()) {
            StoredCheck stored;
            stored.session = text_or_empty(rows.getColumn(0));
            stored.at = rows.getColumn(2).getString();
            stored.check.claim = rows.getColumn(1).getString();
            stored.check.verdict = verdict_of(rows.getColumn(3).getString());
            stored.check.reason = rows.getColumn(4).getString();
            stored.check.provenance = parse_provenance(text_or_empty(rows.getColumn(5)));
            stored.check.obtained = optional_real(rows.getColumn(6));
            all.push_back(std::move(stored));
        }
        return all;
    });
}

}  // namespace assay::store
