// --db, and which database a command works on.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "suite/cli/command.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {

std::filesystem::path Context::database_path() const {
    return database.empty() ? store::default_path() : database;
}

void add_database_option(CLI::App& command, Context& context) {
    command
        .add_option("--db", context.database,
                    "Results database (default: $ASSAY_DB, else below the XDG data folder)")
        ->type_name("FILE");
}

}  // namespace assay::cli
