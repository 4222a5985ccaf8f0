// assay run: runs experiments, stores their samples, checks their claims.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/cli/run/dry_run.hpp"
#include "suite/cli/run/session.hpp"
#include "suite/cli/terminal/output.hpp"

namespace assay::cli {
namespace {

int run(const RunOptions& options, const Context& context) {
    if (!options.events.empty() && options.events != "jsonl")
        throw UserError("--events '" + options.events + "': only jsonl");
    if (options.json && !options.events.empty())
        throw UserError("--json and --events both write to standard output: give one of them");
    if (options.dry_run && !options.events.empty())
        throw UserError("--events streams what a run does, and --dry-run runs nothing");
    refuse_undecided_words(options);
    runner::Request request = make_request(options, context);
    // What is printed is what is run in any case.
    const double budget_s = default_rounds_budget_s();
    if (!options.rounds && !options.until_decided && !options.dry_run && budget_s > 0)
        request.until_precise = {.budget_s = budget_s};
    const runner::Plan plan = runner::make_plan(context.registry, request);
    if (options.dry_run) return print_plan(plan, options.json);
    const runner::Outcome outcome = run_session(options, request, plan, context);
    if (options.json)
        print_json(session_json(context.registry, outcome, context.database_path()));
    else if (options.events.empty())
        std::cout << session_text(context.registry, outcome, context.database_path(),
                                  options.all_metrics);
    return session_exit_code(context.registry, outcome, options.gate);
}

}  // namespace

void add_run_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* command = program.add_subcommand("run", "Run experiments and check their claims");
    command->group("Run");
    command
        ->add_option("experiments", options->patterns,
                     "Ids or patterns: lazarus/fig8, lazarus, all")
        ->required();
    add_run_options(*command, *options, context);
    command
        ->add_flag("--until-decided", options->until_decided,
                   "More rounds of a case until every variant is decided against the first")
        ->group("Until decided");
    command->add_option("--against", options->against, "Decide against this variant, not the first")
        ->type_name("VARIANT")
        ->group("Until decided");
    add_decision_options(*command, options->decision);
    command->add_flag("--json", options->json, "Print JSON")->group("Output");
    command
        ->add_option("--events", options->events, "Stream what happens on standard output: jsonl")
        ->type_name("jsonl")
        ->group("Output");
    command->footer(
        "Ctrl-C stops cleanly; the same command goes on from there.\n"
        "Examples:\n"
        "  assay run lazarus/fig8 -a model=gpt-l\n"
        "  assay run lazarus/x_live --fault kill:rank=1@step=5\n"
        "  assay run lte/fig8 --until-decided --margin 2% --budget 10m\n"
        "  assay run all --dry-run");
    command->callback([options, &context] {
        context.action = [options, &context] { return run(*options, context); };
    });
}

}  // namespace assay::cli
