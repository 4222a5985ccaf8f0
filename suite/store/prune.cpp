// `assay db prune`: takes away old sessions or unsuccessful samples, and gives their space back.
#include <fmt/format.h>

#include <cmath>

#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/timestamp.hpp"

namespace assay::store {
namespace {

// What a person pointed at stays, and so does what is being worked on.
constexpr const char* prunable_sessions =
    "SELECT id FROM session WHERE started < ? AND state <> 'running' "
    "AND id NOT IN (SELECT session FROM baseline) "
    "AND id NOT IN (SELECT session FROM accepted_level) "
    "AND id NOT IN (SELECT session FROM annotation WHERE session IS NOT NULL) "
    "AND id NOT IN (SELECT sample.session FROM annotation JOIN sample ON sample.id = "
    "annotation.sample)";

std::string moment_before(std::optional<double> days) {
    if (!days) return "~";  // after every time
    // Bounded, since the clock cannot count further back than 1677.
    const double seconds = std::min(*days, 36525.0) * 86400;
    return utc(std::chrono::system_clock::now() -
               std::chrono::duration_cast<std::chrono::system_clock::duration>(
                   std::chrono::duration<double>(seconds)));
}

long remove(SQLite::Database& sql, const std::string& statement, const std::string& before) {
    SQLite::Statement remove(sql, statement);
    if (!before.empty()) remove.bind(1, before);
    return remove.exec();
}

Store::Pruned prune_rows(SQLite::Database& sql, const std::string& before, bool only_unsuccessful) {
    Store::Pruned pruned;
    pruned.samples =
        remove(sql,
               fmt::format("DELETE FROM sample WHERE session IN ({}) {}", prunable_sessions,
                           only_unsuccessful ? "AND status NOT IN ('ok', 'running')" : ""),
               before);
    if (!only_unsuccessful) {
        SQLite::Statement sessions(
            sql,
            fmt::format("DELETE FROM session WHERE id IN ({}) RETURNING id", prunable_sessions));
        sessions.bind(1, before);
        while (sessions.executeStep())
            pruned.session_ids.push_back(sessions.getColumn(0).getString());
        pruned.sessions = static_cast<long>(pruned.session_ids.size());
        remove(sql, "DELETE FROM claim_check WHERE session IS NULL AND at < ?", before);
    }
    pruned.artifacts = remove(
        sql, "DELETE FROM artifact_blob WHERE sha256 NOT IN (SELECT sha256 FROM artifact)", "");
    remove(sql, "DELETE FROM series WHERE id NOT IN (SELECT series FROM sample)", "");
    return pruned;
}

/// Leaves a transaction on purpose, so that counting takes the path that deleting takes.
struct DryRun {
    Store::Pruned pruned;
};

}  // namespace

Store::Pruned Store::prune(std::optional<double> older_than_days, bool only_unsuccessful,
                           bool dry_run) {
    if (!older_than_days && !only_unsuccessful)
        throw StoreError("prune what? Give an age in days, or ask for unsuccessful samples only.");
    if (older_than_days && (!std::isfinite(*older_than_days) || *older_than_days < 0))
        throw StoreError(fmt::format("an age of {} days makes no sense.", *older_than_days));
    auto& database = impl_->database;
    Pruned pruned;
    try {
        pruned = database.write("prune", [&](SQLite::Database& sql) {
            const auto counted = prune_rows(sql, moment_before(older_than_days), only_unsuccessful);
            if (dry_run) throw DryRun{counted};
            return counted;
        });
    } catch (const DryRun& counted) {
        return counted.pruned;
    }
    guarded(path(), "give the space back", [&] {
        database.sql().exec("PRAGMA incremental_vacuum");
        database.sql().exec("PRAGMA wal_checkpoint(TRUNCATE)");
    });
    return pruned;
}

}  // namespace assay::store
