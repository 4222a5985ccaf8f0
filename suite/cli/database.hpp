// --db, and opening the results: where nothing having been run yet is not an error, and where it
// begins them.
#pragma once

#include <optional>
#include <string>

#include "suite/cli/command.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {

/// --db FILE, for the commands that read or write results.
void add_database_option(CLI::App& command, Context& context);

/// nullopt when the default database does not exist yet; a file named by --db must exist
/// (StoreError).
std::optional<store::Store> open_if_any(const Context& context);

/// For commands that make no sense without results: UserError says how to get some.
store::Store open_existing(const Context& context);

/// Likewise for commands that add to results: a name that was misspelt makes no database.
store::Store open_existing_to_write(const Context& context);

/// Why no database can be begun where --db or ASSAY_DB name one: the folder is not there. A
/// sentence; empty: it can. Folders of the default are made.
std::string trouble_beginning(const Context& context);

/// For commands that begin a database where there is none: standard error says once where.
store::Store open_or_begin(const Context& context);

/// Said where samples of other machines arrive: stored verdicts know nothing of them. Empty where
/// no claim is about what the database has.
std::string claims_after_arrival(const Registry& registry, const store::Store& store);

}  // namespace assay::cli
