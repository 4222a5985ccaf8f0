// assay db: upkeep of the results database.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/results_text.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/cli/upkeep/db_watch.hpp"
#include "suite/import_export/import.hpp"
#include "suite/report/text/table.hpp"
#include "suite/runner/sample/sample_folders.hpp"

namespace assay::cli {
namespace {

struct DbOptions {
    std::optional<double> older_than_days;
    bool unsuccessful = false;
    bool dry_run = false;
    bool wait = false;
    std::string other;
    bool json = false;
};

int run_check(const Context& context, const DbOptions& options) {
    const store::Store store = open_existing(context);
    const auto found = store.check();
    if (options.json) {
        nlohmann::json rows = nlohmann::json::object();
        for (const auto& [table, count] : found.rows) rows[table] = count;
        print_json({{"file", store.path().string()},
                    {"ok", found.ok},
                    {"problems", found.problems},
                    {"rows", rows},
                    {"bytes", found.bytes}});
    } else {
        using Rows = decltype(found.rows)::value_type;
        const report::Table<Rows> tables{{"table", "table", &Rows::first},
                                         {"rows", "rows", &Rows::second}};
        std::cout << report::text_table(tables.shown(found.rows), text_columns());
        for (const std::string& problem : found.problems)
            print_line(std::cout, "problem: " + problem);
        print_line(std::cout, fmt::format("{}: {}, {}", store.path().string(),
                                          found.ok ? "ok" : "NOT OK", bytes_text(found.bytes)));
    }
    return found.ok ? exit_ok : exit_error;
}

int run_prune(const Context& context, const DbOptions& options) {
    if (!options.older_than_days && !options.unsuccessful)
        throw UserError("prune what? Give --older-than DAYS or --unsuccessful");
    if (options.older_than_days &&
        !(*options.older_than_days >= 0 && std::isfinite(*options.older_than_days)))
        throw UserError("--older-than: a number of days, 0 or more");
    store::Store store = open_existing_to_write(context);
    const auto pruned = store.prune(options.older_than_days, options.unsuccessful, options.dry_run);
    const auto states =
        runner::StateFolder::remove_pruned(store.path(), pruned.session_ids, options.dry_run);
    if (options.json) {
        nlohmann::json listed = nlohmann::json::array();
        for (const auto& state : states)
            listed.push_back({{"session", state.session}, {"bytes", state.bytes}});
        print_json({{"dry_run", options.dry_run},
                    {"sessions", pruned.sessions},
                    {"samples", pruned.samples},
                    {"artifacts", pruned.artifacts},
                    {"checkpoints", listed}});
        return exit_ok;
    }
    const char* const what = options.dry_run ? "would delete" : "deleted";
    std::cout << fmt::format("{} {}, {}, {}\n", what, counted(pruned.sessions, "session"),
                             counted(pruned.samples, "sample"),
                             counted(pruned.artifacts, "artifact"));
    for (const auto& state : states)
        std::cout << fmt::format("{} checkpoints of session {}, {}\n", what,
                                 state.session.substr(0, 8), bytes_text(state.bytes));
    return exit_ok;
}

int run_migrate(const Context& context, const DbOptions& options) {
    const store::Store store = open_existing_to_write(context);
    if (options.json)
        print_json({{"file", store.path().string()}});
    else
        print_line(std::cout, store.path().string() + ": up to date");
    return exit_ok;
}

int run_merge(const Context& context, const DbOptions& options) {
    if (!std::filesystem::exists(options.other))
        throw UserError(fmt::format("no database {}", options.other));
    import_export::check_database(options.other);
    store::Store store = open_or_begin(context);
    const auto merged = store.merge(options.other);
    if (merged.sessions + merged.samples + merged.skipped == 0)
        throw UserError(fmt::format("{}: there is no session in it", options.other));
    if (options.json)
        print_json({{"sessions", merged.sessions},
                    {"samples", merged.samples},
                    {"skipped", merged.skipped}});
    else
        std::cout << fmt::format(
            "added {}, {}; {} {} there already\n{}", counted(merged.sessions, "session"),
            counted(merged.samples, "sample"), merged.skipped, merged.skipped == 1 ? "was" : "were",
            merged.samples > 0 ? claims_after_arrival(context.registry, store) : "");
    return exit_ok;
}

int run_watch(const Context& context, const DbOptions& options) {
    return watch_runs(context, {.wait = options.wait, .json = options.json});
}

}  // namespace

void add_db_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<DbOptions>();
    CLI::App* command = program.add_subcommand("db", "Upkeep of the results database");
    command->require_subcommand(1);
    const auto add = [&](const char* name, const char* says, const char* footer, auto run) {
        CLI::App* part = command->add_subcommand(name, says);
        part->footer(footer);
        part->add_flag("--json", options->json, "Print JSON");
        add_database_option(*part, context);
        part->callback([options, &context, run] {
            context.action = [options, &context, run] { return run(context, *options); };
        });
        return part;
    };
    add("check", "Is it whole? Counts its rows",
        "Exit code 1 when something is wrong with it.\n"
        "Examples:\n"
        "  assay db check\n"
        "  assay db check --db other-machine.db",
        run_check);
    add("migrate", "Bring a file of an older program up to date",
        "Commands that write do it by themselves. Older programs cannot read the file afterwards.\n"
        "Example:\n"
        "  assay db migrate --db last-year.db",
        run_migrate);
    CLI::App* prune = add("prune", "Delete old or unsuccessful results",
                          "What is annotated and what a baseline names stays. Checkpoints that an "
                          "interrupted\nsession kept go with it.\n"
                          "Examples:\n"
                          "  assay db prune --older-than 30 --dry-run\n"
                          "  assay db prune --unsuccessful",
                          run_prune);
    prune->add_option("--older-than", options->older_than_days, "Sessions older than so many days")
        ->type_name("DAYS");
    prune->add_flag("--unsuccessful", options->unsuccessful, "Only failed and interrupted samples");
    prune->add_flag("--dry-run", options->dry_run, "Say what would go; delete nothing");
    CLI::App* merge = add("merge", "Add the results of another machine",
                          "What is there already is skipped, so merging twice does no harm.\n"
                          "Example:\n"
                          "  assay db merge other-machine.db",
                          run_merge);
    merge->add_option("file", options->other, "The other database")->required()->type_name("FILE");
    CLI::App* watch = add("watch", "What runs store, as it comes",
                          "Follows every run that is going on, from its beginning, until they are "
                          "over. With --json\nit prints an object per line: sessions, samples, "
                          "events, pieces of curves, metrics, tables.\n"
                          "Exit code 1 when a runner was killed.\n"
                          "Examples:\n"
                          "  assay db watch\n"
                          "  assay db watch --json",
                          run_watch);
    watch->add_flag("--wait", options->wait, "Where nothing is running, wait for the next run");
    command->group("Upkeep");  // last: its subcommands would inherit it
    command->footer("Examples:\n  assay db check\n  assay db merge other-machine.db");
}

}  // namespace assay::cli
