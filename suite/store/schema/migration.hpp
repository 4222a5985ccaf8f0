// Versions of the schema and how a file gets from one to the next.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::store {

struct Migration {
    int to;           ///< brings a file of version `to - 1` to version `to`
    std::string sql;  ///< may be several statements
    /// What SQL cannot say, done after it in the same transaction; may be null.
    void (*then)(SQLite::Database&) = nullptr;
};

/// Every migration in order; version 0 is an empty file.
const std::vector<Migration>& migrations();

/// The version recorded in the file. StoreError when its two records (PRAGMA user_version and the
/// table schema_version) contradict each other.
int schema_version(const std::filesystem::path& file, SQLite::Database&);

/// Brings the file to the newest of `steps` in one transaction: a step that fails leaves it at the
/// version it had. StoreError when the file is newer than the newest step. Two processes may call
/// this at once.
void migrate(const std::filesystem::path& file, SQLite::Database&,
             std::span<const Migration> steps);

/// What belongs to version 3, after its SQL: fills the gate's tables from the temporary tables of
/// old rows, which were named by texts, and drops those (gate_row_migration.cpp).
void identify_gate_rows(SQLite::Database&);

}  // namespace assay::store
