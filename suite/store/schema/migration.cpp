// Versions of the schema and how a file gets from one to the next.
#include "suite/store/schema/migration.hpp"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include "suite/store/database.hpp"

namespace assay::store {

namespace {

// Read at one moment: another process may be migrating.
int version_at_one_moment(const std::filesystem::path& file, SQLite::Database& sql) {
    SQLite::Transaction moment(sql, SQLite::TransactionBehavior::DEFERRED);
    return schema_version(file, sql);
}

}  // namespace

int schema_version(const std::filesystem::path& file, SQLite::Database& sql) {
    const int version = sql.execAndGet("PRAGMA user_version").getInt();
    const int recorded =
        sql.tableExists("schema_version")
            ? sql.execAndGet("SELECT coalesce(max(version), 0) FROM schema_version").getInt()
            : 0;
    if (version != recorded)
        throw StoreError(fmt::format(
            "{}: the file says it has schema version {}, its history says {}; it was changed by "
            "another program. Nothing was done; restore a copy.",
            file.string(), version, recorded));
    return version;
}

void migrate(const std::filesystem::path& file, SQLite::Database& sql,
             std::span<const Migration> steps) {
    const int newest = steps.back().to;
    if (version_at_one_moment(file, sql) == newest) return;
    SQLite::Transaction transaction(sql, SQLite::TransactionBehavior::IMMEDIATE);
    // Asked again: another process may have migrated while this one waited for the lock.
    const int found = schema_version(file, sql);
    if (found > newest)
        throw StoreError(fmt::format(
            "{}: the file has schema version {}, this program knows versions up to {}. Use a newer "
            "program, or name another file with --db or ASSAY_DB. Nothing was changed.",
            file.string(), found, newest));
    sql.exec(
        "CREATE TABLE IF NOT EXISTS schema_version (  -- which migrations this file has been "
        "through\n"
        "    version INTEGER PRIMARY KEY,\n"
        "    applied TEXT NOT NULL\n"
        ") STRICT");
    for (const auto& step : steps) {
        if (step.to <= found) continue;
        sql.exec(step.sql);
        if (step.then != nullptr) step.then(sql);
        SQLite::Statement record(sql, "INSERT INTO schema_version VALUES (?, ?)");
        record.bind(1, step.to);
        record.bind(2, now_utc());
        record.exec();
    }
    sql.exec(fmt::format("PRAGMA user_version = {}", newest));
    transaction.commit();
}

}  // namespace assay::store
