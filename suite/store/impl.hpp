// What a Store holds; for the files that implement its members.
#pragma once

#include "suite/store/database.hpp"

namespace assay::store {

struct Store::Impl {
    Database database;
};

/// Whole id of the session or sample (`table`) that `prefix` names. StoreError when it is too
/// short, unknown or ambiguous.
std::string resolve(SQLite::Database&, std::string_view table, std::string_view prefix);
/// Whether any id of the table begins so.
bool begins_any(SQLite::Database&, std::string_view table, std::string_view prefix);

/// Moves sessions and samples that a dead runner left running to interrupted.
void interrupt_dead_sessions(Database&);

}  // namespace assay::store
