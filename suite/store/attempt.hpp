// Attempts at a sample that did not succeed and give way to another one.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>

namespace assay::store {

/// Deletes a sample with what hangs on it, except what a person wrote about it: that stays, with
/// the session.
void remove_attempt(SQLite::Database&, const std::string& sample);

}  // namespace assay::store
