// assay claims: what the papers say, and whether it holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/run/session.hpp"
#include "suite/cli/selection.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/text_table.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {
namespace {

struct ClaimsOptions {
    std::vector<std::string> patterns;
    std::string verdict;
    bool all = false;
    bool settings = false;
    bool summary = false;
    bool markdown = false;
    bool again = false;
    bool gate = false;
    bool json = false;
};

constexpr std::size_t widest = 100;

constexpr ClaimVerdict verdicts[] = {
    ClaimVerdict::supported,        ClaimVerdict::contradicted,       ClaimVerdict::calibrated,
    ClaimVerdict::open_discrepancy, ClaimVerdict::not_checkable_here, ClaimVerdict::not_run};

/// Hyphens and underscores stand for blanks, so that no quotes are needed.
ClaimVerdict verdict_named(std::string name) {
    for (char& c : name)
        if (c == '-' || c == '_') c = ' ';
    std::string known;
    for (const ClaimVerdict verdict : verdicts) {
        if (name == to_string(verdict)) return verdict;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(verdict));
    }
    throw UserError(fmt::format("--verdict '{}': one of {}", name, known));
}

/// By this program's claims and checks, from what is stored.
std::vector<ClaimCheck> checked_again(const Context& context, const store::Store& store,
                                      const std::vector<const Claim*>& claims) {
    std::vector<const Experiment*> experiments;
    for (const Claim* claim : claims) {
        const Experiment* experiment = context.registry.experiment(claim->experiment);
        if (experiment &&
            std::find(experiments.begin(), experiments.end(), experiment) == experiments.end())
            experiments.push_back(experiment);
    }
    std::vector<ClaimCheck> checks = report::newest_checks(context.registry, nullptr, claims);
    for (ClaimCheck& fresh : runner::check_claims(context.registry, store, experiments, ""))
        for (ClaimCheck& check : checks)
            if (check.claim == fresh.claim) check = fresh;
    return checks;
}

/// Checks of each system that has any, in the registry's order.
std::vector<std::pair<std::string, report::ClaimsTally>> tallies(
    const Registry& registry, const std::vector<ClaimCheck>& checks) {
    std::vector<std::pair<std::string, report::ClaimsTally>> all;
    for (const System& system : registry.systems()) {
        std::vector<ClaimCheck> own;
        for (const ClaimCheck& check : checks)
            if (check.claim.rfind(system.id + "/", 0) == 0) own.push_back(check);
        if (!own.empty()) all.emplace_back(system.id, report::tally(registry, own));
    }
    return all;
}

report::Grid summary_grid(const Registry& registry, const std::vector<ClaimCheck>& checks) {
    report::Grid grid{{"system", "hold", "contradicted", "discrepancies", "calibrated",
                       "need data or a GPU", "not run", "no command checks", "claims"}};
    for (const auto& [system, sum] : tallies(registry, checks)) {
        grid.push_back({system});
        for (const std::size_t count :
             {sum.hold, sum.contradicted, sum.discrepancies, sum.calibrated, sum.need_inputs,
              sum.not_run, sum.no_command, sum.claims()})
            grid.back().push_back(std::to_string(count));
    }
    return grid;
}

nlohmann::json summary_json(const Registry& registry, const std::vector<ClaimCheck>& checks) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [system, sum] : tallies(registry, checks))
        rows.push_back({{"system", system},
                        {"claims", sum.claims()},
                        {"checked", sum.checked()},
                        {"supported", sum.hold},
                        {"contradicted", sum.contradicted},
                        {"open discrepancy", sum.discrepancies},
                        {"calibrated", sum.calibrated},
                        {"need inputs", sum.need_inputs},
                        {"not run", sum.not_run},
                        {"no command", sum.no_command},
                        {"settings", sum.settings}});
    return rows;
}

/// Where and when what is stored was made: "Recorded 2026-11-22 on Some CPU (2 cores); commit
/// 1a2b3c4."
std::string recorded_text(const store::Store& store) {
    std::set<std::string> days, machines, commits;
    for (const store::Session& session : store.sessions()) {
        days.insert(session.started.substr(0, session.started.find('T')));
        if (const auto commit = session.suspects.find("commit"); commit != session.suspects.end())
            if (commit->is_string()) commits.insert(commit->get<std::string>());
        const auto machine = store.machine(session.machine);
        if (machine && machine->description.contains("cpu"))
            machines.insert(fmt::format("{} ({} cores)",
                                        machine->description["cpu"].get<std::string>(),
                                        machine->description.value("usable_cores", 0)));
    }
    if (days.empty()) return {};
    return fmt::format("Recorded {}{} on {}; commit{} {}.", *days.begin(),
                       days.size() > 1 ? " to " + *days.rbegin() : "", fmt::join(machines, " and "),
                       commits.size() == 1 ? "" : "s", fmt::join(commits, ", "));
}

std::string markdown(const report::Grid& grid) {
    std::string out;
    for (std::size_t row = 0; row < grid.size(); ++row) {
        out += fmt::format("| {} |\n", fmt::join(grid[row], " | "));
        if (row > 0) continue;
        out += "|---|";
        for (std::size_t column = 1; column < grid[row].size(); ++column) out += "---:|";
        out += '\n';
    }
    return out;
}

void print_summary(const Context& context, const ClaimsOptions& options,
                   const std::vector<ClaimCheck>& checks, const store::Store* store) {
    const std::string recorded = store == nullptr ? "" : recorded_text(*store);
    if (options.json)
        print_json(summary_json(context.registry, checks));
    else if (options.markdown)
        std::cout << markdown(summary_grid(context.registry, checks)) << '\n' << recorded << '\n';
    else
        std::cout << report::text_table(summary_grid(context.registry, checks), text_columns())
                  << hanging("", recorded, text_columns());
}

void print_claims(const Context& context, const ClaimsOptions& options,
                  const std::vector<ClaimCheck>& checks) {
    if (options.json) {
        nlohmann::json array = nlohmann::json::array();
        for (const ClaimCheck& check : checks)
            array.push_back(to_json(*context.registry.claim(check.claim), check));
        print_json(array);
        return;
    }
    const std::size_t columns = drawing_width(widest);
    const report::ClaimsTally sum = report::tally(context.registry, checks);
    if (sum.claims() > 0) std::cout << hanging("", report::headline(sum), text_columns()) << '\n';
    if (options.settings) {
        std::cout << report::settings_table(context.registry, checks, text_columns());
        return;
    }
    // One claim, or claims of one verdict, are meant to be read.
    const bool in_full = options.all || !options.verdict.empty() || checks.size() == 1;
    std::cout << (in_full ? report::claims_rows(context.registry, checks, columns)
                          : report::claims_table(context.registry, checks, columns));
    if (!in_full && sum.settings > 0)
        std::cout << '\n'
                  << hanging("",
                             fmt::format("{} setting{} of the paper{} no claim{}: `assay claims "
                                         "--settings`",
                                         sum.settings, sum.settings == 1 ? "" : "s",
                                         sum.settings == 1 ? " is" : "s are",
                                         sum.settings == 1 ? "" : "s"),
                             text_columns());
}

int run_claims(const Context& context, const ClaimsOptions& options) {
    if (options.markdown && !options.summary) throw UserError("--markdown belongs to --summary");
    if (options.settings && !options.verdict.empty())
        throw UserError("--settings have no verdict: give --settings or --verdict");
    auto claims = select_claims(context.registry, options.patterns);
    if (options.settings)
        std::erase_if(claims, [](const Claim* claim) { return claim->kind == ClaimKind::claim; });
    const auto store = open_if_any(context);
    std::vector<ClaimCheck> checks =
        store && options.again
            ? checked_again(context, *store, claims)
            : report::newest_checks(context.registry, store ? &*store : nullptr, claims);
    if (!options.verdict.empty()) {
        const ClaimVerdict wanted = verdict_named(options.verdict);
        std::erase_if(checks, [&](const ClaimCheck& check) {
            return check.verdict != wanted ||
                   context.registry.claim(check.claim)->kind == ClaimKind::setting;
        });
    }
    if (options.summary)
        print_summary(context, options, checks, store ? &*store : nullptr);
    else
        print_claims(context, options, checks);
    return options.gate && any_contradicted(checks) ? exit_regression : exit_ok;
}

}  // namespace

void add_claims_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ClaimsOptions>();
    CLI::App* command =
        program.add_subcommand("claims", "What the papers claim, and whether it holds");
    command->group("Results");
    command->add_option(
        "patterns", options->patterns,
        "Experiments or claims: lazarus/fig8, lazarus/fig8/gpt-l, all (the default)");
    command->add_option("--verdict", options->verdict,
                        "Only these: supported, contradicted, calibrated, open-discrepancy, "
                        "not-checkable-here, not-run");
    command->add_flag("--all", options->all, "A row for each claim and setting, checked or not");
    command->add_flag("--settings", options->settings,
                      "Only what the papers chose (nodes, batch sizes, …), which is not checked");
    command->add_flag("--summary", options->summary, "Counts by system only");
    command->add_flag("--markdown", options->markdown, "With --summary: as a Markdown table");
    command->add_flag("--again", options->again,
                      "Check what is stored anew, as after an update, instead of showing what came "
                      "out when it was run");
    command->add_flag("--gate", options->gate, "Exit 2 when one is contradicted");
    command->add_flag("--json", options->json, "Print JSON");
    add_database_option(*command, context);
    command->footer(
        "Claims that were not checked are counted by the reason; --all or --verdict lists them.\n"
        "Examples:\n"
        "  assay claims lazarus --verdict open-discrepancy\n"
        "  assay claims lazarus/fig8/gpt-l --all\n"
        "  assay claims --summary --markdown");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_claims(context, *options); };
    });
}

}  // namespace assay::cli
