#include "suite/cli/database.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {
namespace {

UserError no_results(const std::filesystem::path& file) {
    return UserError(fmt::format("no results yet: {} does not exist; {} makes it", file.string(),
                                 suggested("run")));
}

}  // namespace

std::filesystem::path Context::database_path() const {
    return database.empty() ? store::default_path() : database;
}

void add_database_option(CLI::App& command, Context& context) {
    command
        .add_option("--db", context.database,
                    "Results database (default: $ASSAY_DB, else below the XDG data folder)")
        ->type_name("FILE");
}

std::optional<store::Store> open_if_any(const Context& context) {
    const std::filesystem::path file = context.database_path();
    if (context.database.empty() && !std::filesystem::exists(file)) return std::nullopt;
    return store::Store::open(file, store::Access::read);
}

store::Store open_existing(const Context& context) {
    auto store = open_if_any(context);
    if (!store) throw no_results(context.database_path());
    return std::move(*store);
}

store::Store open_existing_to_write(const Context& context) {
    // Not by reading it: a file of an older program is brought up to date by whoever writes.
    const std::filesystem::path file = context.database_path();
    if (!std::filesystem::exists(file)) throw no_results(file);
    return store::Store::open(file, store::Access::write);
}

std::string trouble_beginning(const Context& context) {
    const char* const variable = std::getenv("ASSAY_DB");
    const bool named = !context.database.empty() || (variable != nullptr && *variable != '\0');
    const std::filesystem::path file = context.database_path();
    const std::string trouble = named ? missing_folder(file) : "";
    if (trouble.empty()) return {};
    return fmt::format("cannot begin the results database {}: {}", file.string(), trouble);
}

std::string claims_after_arrival(const Registry& registry, const store::Store& store) {
    const std::vector<std::string> ids = store.experiments();
    const auto has_samples = [&](const Claim& claim) {
        return std::find(ids.begin(), ids.end(), claim.experiment) != ids.end();
    };
    if (std::none_of(
            registry.systems().begin(), registry.systems().end(), [&](const System& system) {
                return std::any_of(system.claims.begin(), system.claims.end(), has_samples);
            }))
        return {};
    return suggested("claims --again") + " judges the claims by everything that is here now\n";
}

store::Store open_or_begin(const Context& context) {
    const std::filesystem::path file = context.database_path();
    const bool new_one = !std::filesystem::exists(file);
    if (const std::string trouble = new_one ? trouble_beginning(context) : ""; !trouble.empty())
        throw UserError(trouble);
    store::Store store = store::Store::open(file, store::Access::write);
    if (new_one) print_line(std::cerr, "results go to a new database, " + file.string());
    return store;
}

}  // namespace assay::cli
