// assay baseline: the levels that nights are compared with.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/terminal/print_table.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/gate/baseline.hpp"
#include "suite/gate/kept_programs.hpp"
#include "suite/gate/plan/suite_file.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/store/ids.hpp"

namespace assay::cli {
namespace {

struct BaselineOptions {
    gate::Acceptance acceptance;
    std::string name;
    bool json = false;
};

/// A level that was accepted under a misspelt name is looked at by no night.
void tell_of_strange_name(const std::string& name, const store::Nights& nights) {
    std::set<std::string> suites;
    for (const store::NightRecord& night : nights.nights("")) suites.insert(night.suite);
    if (suites.contains(name)) return;
    const auto nearest = nearest_id(name, {suites.begin(), suites.end()});
    print_line(std::cout,
               fmt::format("no night of a suite '{}' was ever run{}; only {} looks at it", name,
                           nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "",
                           suggested("nightly SUITE.toml --baseline " + shell_quoted(name))));
}

std::string rows_text(std::size_t n) { return n == 1 ? "1 row" : fmt::format("{} rows", n); }

/// "everything, 61 rows"
std::string extent_text(const gate::Accepted& accepted) {
    if (!accepted.rows.empty())
        return fmt::format(
            "{}, whose {}", rows_text(accepted.rows.size()),
            accepted.rows.size() == 1 ? "history begins anew" : "histories begin anew");
    return accepted.of_night ? "everything, " + rows_text(accepted.with_values) : "everything";
}

/// What the night itself said of the values that are now the measure.
void tell_of_verdict(const gate::Accepted& accepted) {
    if (!accepted.of_night || !accepted.rows.empty()) return;
    const std::string& verdict = accepted.verdict;
    if (verdict.empty())
        std::cout << "warning: that night never came to its end: nobody compared its values with "
                     "the level before\n";
    else if (verdict == "ambiguous")
        std::cout << "warning: that night was ambiguous: most of it was compared with nothing, so "
                     "that a slowdown may now be part of the level\n";
    else if (verdict == "error")
        std::cout << "warning: that night ended in error\n";
    else if (verdict == "regression")
        std::cout << "warning: that night ended in a regression, which is now part of the level\n";
}

/// Row by row, what the new level takes over, ends, and leaves open.
void tell_of_rows(const gate::Accepted& accepted) {
    std::vector<RowId> all;
    for (const auto* some : {&accepted.rows, &accepted.empty, &accepted.settled, &accepted.gone,
                             &accepted.open, &accepted.later})
        all.insert(all.end(), some->begin(), some->end());
    const report::RowNames names(all);
    const auto list = [&](const char* what, const std::vector<RowId>& rows) {
        for (const RowId& row : rows) std::cout << what << names.of(row).text() << '\n';
    };
    list("  ", accepted.rows);
    list("no longer a regression: ", accepted.settled);
    list("no longer a regression, since that night has it no more: ", accepted.gone);
    list("warning: still a regression, since that session has no values of it: ", accepted.open);
    list("warning: still a regression, since that session is older than it: ", accepted.later);
    list(
        "warning: no values in that session, so that nothing judges it until it works and is "
        "accepted anew: ",
        accepted.empty);
}

int accept(const BaselineOptions& options, const Context& context) {
    gate::Acceptance acceptance = options.acceptance;
    acceptance.name = gate::suite_named(acceptance.name);
    store::Store store = open_existing_to_write(context);
    store::Nights nights(store);
    const gate::Accepted accepted = gate::accept_level(context.registry, store, nights, acceptance);
    print_line(std::cout, fmt::format("{}: session {} is the level of {}", acceptance.name,
                                      accepted.session.substr(0, 8), extent_text(accepted)));
    if (const std::string words = store::future_words(accepted.started); !words.empty())
        std::cout << fmt::format("warning: that session {}\n", words);
    tell_of_verdict(accepted);
    tell_of_rows(accepted);
    tell_of_strange_name(acceptance.name, nights);
    if (!accepted.of_night)
        std::cout << "that session was no night of a suite: rows that it lacks will be compared "
                     "with nothing\n";
    if (!accepted.program_kept)
        std::cout << "its program was not kept: candidates will be rerun with the new program "
                     "alone\n";
    return exit_ok;
}

/// The baseline that a word stands for: its own name, else the suite of that file.
std::string baseline_named(const std::string& word, const std::vector<std::string>& known) {
    return std::find(known.begin(), known.end(), word) != known.end() ? word
                                                                      : gate::suite_named(word);
}

report::RowNames names_of(const std::vector<store::AcceptedLevel>& levels) {
    std::vector<RowId> rows;
    for (const store::AcceptedLevel& level : levels)
        if (level.row) rows.push_back(*level.row);
    return report::RowNames(rows);
}

std::string none() {
    return "no baselines yet; " + suggested("baseline accept SUITE") + " makes one\n";
}

/// All levels of a baseline; of every one with an empty name.
int show(const BaselineOptions& options, const Context& context) {
    using Level = store::AcceptedLevel;
    store::Store store = open_existing(context);
    const store::Nights nights(store);
    const auto known = gate::baseline_names(store, nights);
    const std::string name = baseline_named(options.name, known);
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
        throw gate::unknown_baseline(store, nights, name);
    const std::vector<Level> levels = nights.levels(name);
    const report::RowNames names = names_of(levels);
    const gate::KeptPrograms programs(store.path());
    std::map<std::string, std::string> program_of;
    for (const store::NightRecord& night : nights.nights(""))
        program_of[night.session] = night.program;
    const auto kept = [&](const Level& level) {
        const auto program = programs.executable(program_of[level.session]);
        return program.empty() ? "–" : programs.damage(program).empty() ? "kept" : "damaged";
    };
    const auto of_row = [](auto text) {
        return [text](const Level& level) { return level.row ? text(*level.row) : ""; };
    };
    const report::Table<Level> table{
        {"baseline", "baseline", &Level::baseline},
        {"row", "what", of_row([&](const RowId& row) { return names.of(row).text(); }),
         report::or_else("everything")},
        {"session", "session", &Level::session, report::short_id},
        {"since", "measured", &Level::since, report::minute},
        {"at", "accepted", &Level::at, report::minute},
        {"", "program", kept},
        {"why", "why", &Level::why},
        {"series", "", of_row(std::mem_fn(&RowId::series_text))},
        {"metric", "", of_row(std::mem_fn(&RowId::metric_text))},
        {"id", "", [](const Level& l) { return l.row ? to_json(*l.row) : nlohmann::json(); }}};
    print_table(table, levels, options.json, none());
    return exit_ok;
}

/// The newest level of each baseline.
int list(const BaselineOptions& options, const Context& context) {
    using store::Baseline;
    const auto store = open_if_any(context);
    const report::Table<Baseline> table{
        {"name", "baseline", &Baseline::name},
        {"session", "session", &Baseline::session, report::short_id},
        {"created", "accepted", &Baseline::created, report::minute}};
    print_table(table, store ? store->baselines() : std::vector<Baseline>(), options.json, none());
    return exit_ok;
}

int drop(const BaselineOptions& options, const Context& context) {
    store::Store store = open_existing_to_write(context);
    store::Nights nights(store);
    const std::string name = baseline_named(options.name, gate::baseline_names(store, nights));
    if (!nights.drop_baseline(name)) throw gate::unknown_baseline(store, nights, name);
    print_line(std::cout, name +
                              ": dropped; its session and samples stay, and nights judge nothing "
                              "until another one is accepted");
    return exit_ok;
}

using Act = int (*)(const BaselineOptions&, const Context&);

CLI::App* add_action(CLI::App& parent, const char* name, const char* says, Act act,
                     const std::shared_ptr<BaselineOptions>& options, Context& context) {
    CLI::App* command = parent.add_subcommand(name, says);
    add_database_option(*command, context);
    command->callback([options, act, &context] {
        context.action = [options, act, &context] { return act(*options, context); };
    });
    return command;
}

}  // namespace

void add_baseline_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<BaselineOptions>();
    CLI::App* parent =
        program.add_subcommand("baseline", "The levels that nights are compared with");
    parent->group("Gate");
    parent->require_subcommand(1);

    CLI::App* command =
        add_action(*parent, "accept", "Compare with this from now on", accept, options, context);
    command->add_option("name", options->acceptance.name, "The suite's name, or its file")
        ->required();
    command->add_option("--session", options->acceptance.session,
                        "Session or prefix (default: the suite's newest finished night)");
    command->add_option("--series", options->acceptance.series,
                        "Only rows like this pattern; their histories begin anew");
    command->add_option("--why", options->acceptance.why, "For those who read it later");
    command->add_flag("--even-if-failed", options->acceptance.even_if_failed,
                      "Accept what failed in that night, too: it is judged by nothing");
    command->footer(
        "Open regressions of what is accepted end with it, but for rows without values.\n"
        "Examples:\n"
        "  assay baseline accept cpu\n"
        "  assay baseline accept cpu --series 'lazarus/fig4 *' --why 'the plan is another'");

    command = add_action(*parent, "list", "All baselines", list, options, context);
    command->add_flag("--json", options->json, "Print JSON");
    command->footer("Example:\n  assay baseline list");

    command =
        add_action(*parent, "show", "What was accepted, when, and why", show, options, context);
    command->add_option("name", options->name, "One baseline (default: all)");
    command->add_flag("--json", options->json, "Print JSON");
    command->footer(
        "Examples:\n"
        "  assay baseline show\n"
        "  assay baseline show cpu --json");

    command = add_action(*parent, "drop", "Forget a baseline", drop, options, context);
    command->add_option("name", options->name, "Its name")->required();
    command->footer("Example:\n  assay baseline drop cpu");
    parent->footer(
        "Examples:\n"
        "  assay baseline accept cpu    # after a night of the suite cpu\n"
        "  assay baseline list");
}

}  // namespace assay::cli
