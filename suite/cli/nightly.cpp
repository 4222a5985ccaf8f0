// assay nightly: one night of a suite, its reports, and the exit code that a CI goes by.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/cli/command.hpp"
#include "suite/cli/dry_run.hpp"
#include "suite/cli/json_output.hpp"
#include "suite/cli/live_progress.hpp"
#include "suite/cli/output_file.hpp"
#include "suite/cli/run_options.hpp"
#include "suite/cli/warnings_before_run.hpp"
#include "suite/gate/nightly.hpp"

namespace assay::cli {
namespace {

struct NightlyOptions {
    std::string suite, baseline;
    std::string junit, markdown, html;
    bool annotations = false, json = false, dry_run = false;
    bool fresh = false, no_lock = false, no_doctor = false;
};

int print_night_plan(const NightlyOptions& options, const gate::NightPlan& plan) {
    if (options.json)
        print_json(plan_json(plan.plan));
    else
        std::cout << plan_text(plan.plan);
    return exit_ok;
}

/// Before the verdict is printed: what was measured is not lost when a report cannot be written.
void write_reports(const NightlyOptions& options, const gate::Night& night) {
    if (!options.junit.empty()) write_output(options.junit, gate::junit_xml(night));
    if (!options.markdown.empty()) write_output(options.markdown, gate::markdown_summary(night));
    if (!options.html.empty()) write_output(options.html, gate::html_page(night));
}

int run_nightly(const NightlyOptions& options, const Context& context) {
    gate::NightRequest request;
    request.suite = gate::read_suite(options.suite);
    const gate::NightPlan plan = gate::make_night_plan(context.registry, request.suite);
    if (options.dry_run) return print_night_plan(options, plan);
    request.baseline = options.baseline.empty() ? request.suite.name : options.baseline;
    request.fresh = options.fresh;
    request.lock = !options.no_lock;
    request.command = context.command_line;
    if (!options.no_doctor)
        if (const auto names = warnings_before_run(plan.plan, default_settle_s())) {
            request.suspects["warnings"] = *names;
            if (!names->empty())
                request.warnings.push_back("before the run, `assay doctor` warned of: " + *names);
        }
    store::Store store = store::Store::open(context.database_path(), store::Access::write);
    gate::NightOutcome outcome;
    {
        LiveProgress progress(terminal_width());
        outcome = gate::run_night(context.registry, plan, request, store,
                                  [&](const runner::Notice& notice) { progress.on(notice); });
    }
    if (outcome.interrupted) {
        std::cerr << "interrupted: the same command goes on from here within a day\n";
        return exit_error;
    }
    write_reports(options, outcome.night);
    (options.json ? std::cerr : std::cout) << gate::terminal_text(outcome.night);
    if (options.annotations)
        (options.json ? std::cerr : std::cout) << gate::github_annotations(outcome.night);
    if (options.json) std::cout << gate::json_text(outcome.night);
    return gate::exit_code(outcome.night.verdict);
}

constexpr const char* nightly_footer =
    R"(The first night becomes the baseline by `assay baseline accept SUITE`. A row that is
slower than the baseline beyond its margin, and unusual in its history where that is long
enough, is rerun at once, the baseline's program against this one in turns; two nights that
agree confirm it. Only confirmed rows, or all rows together, fail.
Exit codes: 0 clean (warnings are possible), 1 something could not be run,
            2 regression, 3 too little could be decided.
Examples:
  assay nightly datasets/suites/cpu.toml --junit night.xml --html night.html
  assay nightly cpu.toml --markdown "$GITHUB_STEP_SUMMARY" --annotations
  assay nightly cpu.toml --dry-run)";

}  // namespace

void add_nightly_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<NightlyOptions>();
    CLI::App* command = program.add_subcommand(
        "nightly", "Run a suite, compare with its baseline, fail on confirmed regressions");
    command->group("Gate");
    command->add_option("suite", options->suite, "SUITE.toml: what a night runs")->required();
    command->add_option("--baseline", options->baseline,
                        "Name of the baseline (default: that of the suite)");
    command->add_flag("--dry-run", options->dry_run, "Print the plan, run nothing");
    command->add_flag("--fresh", options->fresh, "Do not go on with an interrupted night");
    command->add_flag("--no-lock", options->no_lock,
                      "Run beside another measured run; both disturb each other");
    command->add_flag("--no-doctor", options->no_doctor, "Do not look at the machine first");
    for (const auto& [name, file, says] :
         {std::tuple{"--junit", &options->junit, "JUnit XML: a test case per row"},
          std::tuple{"--markdown", &options->markdown, "Summary, fit for a step summary"},
          std::tuple{"--html", &options->html, "Page with all rows and their evidence"}})
        command->add_option(name, *file, says)->type_name("FILE")->group("Output");
    command->add_flag("--annotations", options->annotations, "Print GitHub's workflow commands")
        ->group("Output");
    command->add_flag("--json", options->json, "Print JSON")->group("Output");
    add_database_option(*command, context);
    command->footer(nightly_footer);
    command->callback([options, &context] {
        context.action = [options, &context] { return run_nightly(*options, context); };
    });
}

}  // namespace assay::cli
