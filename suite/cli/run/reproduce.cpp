// assay reproduce: run, claims and report in one go.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/quantity_text.hpp"
#include "suite/claim/tolerance.hpp"
#include "suite/cli/run/dry_run.hpp"
#include "suite/cli/run/session.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/table.hpp"

namespace assay::cli {
namespace {

struct ReproduceOptions {
    RunOptions run;
    std::string report_file = "assay-report.html";
};

/// A table of what the paper reports beside what came out, for claims that were checked.
std::string expected_and_obtained(const Registry& registry, const std::vector<ClaimCheck>& checks) {
    using Checked = std::pair<const Claim*, const ClaimCheck*>;
    const report::Table<Checked> table{
        {"claim", "claim", [](const Checked& one) { return one.first->id; }},
        {"paper", "paper", [](const Checked& one) { return value_text(*one.first); },
         report::or_else("-")},
        {"ours", "ours",
         [](const Checked& one) { return report::number_or_null(one.second->obtained); },
         report::or_else("-")},
        {"unit", "unit", [](const Checked& one) { return one.first->unit; }},
        {"provenance", "provenance",
         [](const Checked& one) {
             const auto& provenance = one.second->provenance;
             return provenance ? to_string(*provenance) : "";
         },
         report::or_else("-")},
        {"verdict", "verdict", [](const Checked& one) { return to_string(one.second->verdict); }}};
    std::vector<Checked> rows;
    for (const ClaimCheck& check : checks)
        if (const Claim* claim = registry.claim(check.claim);
            claim != nullptr && report::rests_on_results(check))
            rows.emplace_back(claim, &check);
    if (rows.empty()) return "";
    return fmt::format("\nExpected and obtained: {}\n{}",
                       report::headline(report::tally(registry, checks)),
                       report::text_table(table.shown(rows), text_columns()));
}

int reproduce(const ReproduceOptions& options, const Context& context) {
    expect_ending("-o", options.report_file, {".html", ".htm"});
    const bool page_printed = is_standard_output(options.report_file);
    expect_one_on_standard_output({{"-o", page_printed}, {"--json", options.run.json}});
    const runner::Request request = make_request(options.run, context);
    const runner::Plan plan = runner::make_plan(context.registry, request);
    if (options.run.dry_run) return print_plan(plan, options.run.json);
    check_output("-o", options.report_file);
    std::cerr << fmt::format("{} samples, about {}, {} of disk\n", plan.samples.size(),
                             duration_text(plan.seconds), bytes_text(plan.bytes));
    const runner::Outcome outcome = run_session(options.run, request, plan, context);
    const auto database = context.database_path();
    const store::Store store = store::Store::open(database, store::Access::read);
    write_output(options.report_file, session_report(context.registry, plan, outcome, store));
    if (options.run.json) {
        nlohmann::json result = session_json(context.registry, outcome, database);
        result["report"] = options.report_file;
        print_json(result);
    } else {
        std::ostream& out = page_printed ? std::cerr : std::cout;
        out << session_text(context.registry, outcome, database, options.run.all_metrics)
            << expected_and_obtained(context.registry, outcome.claims);
        print_line(out, "database  " + database.string());
        print_line(out, "report    " + options.report_file);
    }
    return session_exit_code(context.registry, outcome, options.run.gate);
}

}  // namespace

void add_reproduce_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ReproduceOptions>();
    options->run.patterns = {"all"};
    CLI::App* command =
        program.add_subcommand("reproduce", "Run, check the claims and write the report in one go");
    command->group("Run");
    command->add_option("experiments", options->run.patterns, "Ids or patterns (default: all)");
    add_run_options(*command, options->run, context);
    command->add_option("-o,--output", options->report_file, "HTML file of the report")
        ->type_name("FILE")
        ->capture_default_str()
        ->group("Output");
    command->add_flag("--json", options->run.json, "Print JSON")->group("Output");
    command->footer(
        "Everything at profile toy takes hours on two cores, most of it training; --dry-run says\n"
        "how long each experiment takes, and an interrupted run goes on where it stopped.\n"
        "Examples:\n"
        "  assay reproduce                        # everything at profile toy\n"
        "  assay reproduce lazarus/fig8 --gate    # exit 2 when a claim is contradicted");
    command->callback([options, &context] {
        context.action = [options, &context] { return reproduce(*options, context); };
    });
}

}  // namespace assay::cli
