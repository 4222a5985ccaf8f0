// assay nightly: one night of a suite, its reports, and the exit code that a CI goes by.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/run/dry_run.hpp"
#include "suite/cli/run/run_options.hpp"
#include "suite/cli/run/warnings_before_run.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/gate/baseline.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/kept_programs.hpp"
#include "suite/gate/nightly.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/measure/environment.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

struct NightlyOptions {
    std::string suite, baseline;
    std::string junit, markdown, html, wait = "30m";
    bool annotations = false, json = false, dry_run = false, require_baseline = false;
    bool fresh = false, no_lock = false, no_doctor = false;
};

/// A file that the night is to leave, and what makes its content.
struct Report {
    const char* option;
    std::string file;
    std::string (*content)(const gate::Night&);
};

std::vector<Report> reports_of(const NightlyOptions& options) {
    std::vector<Report> all = {{"--junit", options.junit, gate::junit_xml},
                               {"--markdown", options.markdown, gate::markdown_summary},
                               {"--html", options.html, gate::html_page}};
    std::erase_if(all, [](const Report& report) { return report.file.empty(); });
    return all;
}

/// What people read goes to standard error where a program reads standard output.
std::ostream& for_people(const NightlyOptions& options) {
    bool taken = options.json;
    for (const Report& report : reports_of(options))
        taken = taken || is_standard_output(report.file);
    return taken ? std::cerr : std::cout;
}

void refuse_contradictions(const NightlyOptions& options) {
    expect_one_on_standard_output({{"--json", options.json},
                                   {"--junit", is_standard_output(options.junit)},
                                   {"--markdown", is_standard_output(options.markdown)},
                                   {"--html", is_standard_output(options.html)}});
    expect_ending("--junit", options.junit, {".xml"});
    expect_ending("--markdown", options.markdown, {".md", ".markdown"});
    expect_ending("--html", options.html, {".html", ".htm"});
}

/// What hours of measuring would end with, said before them.
void refuse_what_would_fail(const NightlyOptions& options, const gate::SuiteFile& suite) {
    std::map<std::string, const char*> files;
    for (const Report& report : reports_of(options)) {
        check_output(report.option, report.file);
        const auto [at, is_new] = files.try_emplace(report.file, report.option);
        if (!is_new)
            throw UserError(fmt::format("{} and {} name the same file {}", at->second,
                                        report.option, report.file));
    }
    if (const auto missing = gate::missing_programs(suite); !missing.empty())
        throw UserError(fmt::format("{}", fmt::join(missing, "\n       ")));
}

/// `store`: nullopt where there is no database yet. Without --baseline and --require-baseline a
/// suite may have no level, and its nights say so.
void refuse_without_level(const NightlyOptions& options, const Context& context,
                          std::optional<store::Store>& store, const std::string& baseline) {
    const auto database = context.database_path();
    std::optional<store::Nights> nights;
    if (store) nights.emplace(*store);
    const bool knows_nights = nights && !nights->nights("").empty();
    if (!knows_nights)
        if (const auto lost = gate::lost_database(database, nights ? nights->file_made() : ""))
            throw UserError(*lost);
    if (options.baseline.empty() && !options.require_baseline) return;
    const char* option = options.require_baseline ? "--require-baseline" : "--baseline";
    if (!nights)
        throw UserError(fmt::format("{}: {} does not exist, so there is no baseline '{}'", option,
                                    database.string(), baseline));
    if (!gate::baseline_level(*store, *nights, baseline))
        throw UserError(fmt::format("{}: {}", option,
                                    gate::unknown_baseline(*store, *nights, baseline).what()));
}

void print_night_plan(const NightlyOptions& options, const gate::NightPlan& plan) {
    if (options.json)
        print_json(night_plan_json(plan));
    else
        std::cout << night_plan_text(plan);
}

/// Before the verdict is printed. False, which is said: a report could not be written, and what was
/// measured is in the database all the same.
bool write_reports(const NightlyOptions& options, const gate::Night& night) {
    bool written = true;
    for (const Report& report : reports_of(options)) try {
            write_output(report.file, report.content(night));
        } catch (const UserError& error) {
            print_line(std::cerr, fmt::format("assay: {}: {}; the night itself is stored",
                                              report.option, error.what()));
            written = false;
        }
    return written;
}

int run_nightly(const NightlyOptions& options, const Context& context) {
    refuse_contradictions(options);
    const double wait_s = options.wait == "0" ? 0 : parse_duration_s(options.wait, "--wait");
    gate::NightRequest request;
    request.suite = gate::read_suite(options.suite);
    const gate::NightPlan plan = gate::make_night_plan(context.registry, request.suite);
    request.baseline =
        options.baseline.empty() ? request.suite.name : gate::suite_named(options.baseline);
    const auto database = context.database_path();
    std::optional<store::Store> store;
    std::error_code no_file;  // a folder has no size, and is refused when it is opened
    if (std::filesystem::exists(database) && std::filesystem::file_size(database, no_file) > 0)
        store.emplace(store::Store::open(
            database, options.dry_run ? store::Access::read : store::Access::write));
    refuse_what_would_fail(options, request.suite);
    refuse_without_level(options, context, store, request.baseline);
    if (const std::string trouble = store ? "" : trouble_beginning(context); !trouble.empty())
        throw UserError(trouble);
    if (options.dry_run) {
        print_night_plan(options, plan);
        return exit_ok;
    }
    for (const measure::Gpu& gpu : measure::read_gpus().devices) request.gpus.push_back(gpu.name);
    request.fresh = options.fresh;
    // For the whole night: no other run may come between its samples and its reruns.
    const auto lock = lock_machine(plan.plan, !options.no_lock, context.command_line, wait_s);
    request.command = context.command_line;
    if (!options.no_doctor)
        if (const auto names = warnings_before_run(plan.plan, default_settle_s())) {
            request.suspects["warnings"] = *names;
            if (!names->empty())
                request.warnings.push_back("before the run, `assay doctor` warned of: " + *names);
        }
    if (!store) store.emplace(open_or_begin(context));
    const gate::KeptPrograms programs(store->path());
    const bool keeps_programs = std::filesystem::exists(programs.folder());
    gate::NightOutcome outcome;
    {
        LiveProgress progress(terminal_width());
        outcome = gate::run_night(context.registry, plan, request, *store,
                                  [&](const runner::Notice& notice) { progress.on(notice); });
    }
    if (outcome.interrupted) {
        std::cerr << "interrupted: the same command goes on from here within a day\n";
        return exit_error;
    }
    if (!keeps_programs && std::filesystem::exists(programs.folder()))
        print_line(std::cerr, fmt::format("made the folder {}, in which the programs of nights are "
                                          "kept to be run again",
                                          programs.folder().string()));
    const bool written = write_reports(options, outcome.night);
    for_people(options) << fitted_lines(gate::terminal_text(outcome.night, text_columns()),
                                        text_columns());
    if (options.annotations) for_people(options) << gate::github_annotations(outcome.night);
    if (options.json) std::cout << report::printable_json(gate::json_text(outcome.night));
    const int code = gate::exit_code(outcome.night.verdict);
    return written || code == exit_regression ? code : exit_error;
}

constexpr const char* nightly_footer =
    R"(The first night becomes the baseline by `assay baseline accept SUITE`. A row that is
slower than the baseline beyond its margin, and unusual in its history where that is long
enough, is rerun at once, the baseline's program against this one in turns; two nights that
agree confirm it (a run begun less than the suite's min_apart_h, 4 hours, after another
one ended is the same night).
Only confirmed rows, or all rows together, fail.
Where the suite has no level yet the night judges nothing and says so; in a CI let
--require-baseline make an error of that, from the second night on.
Exit codes: 0 clean (warnings are possible) or no baseline yet, 1 something could not be
            run or a report not be written, 2 regression (even where a report file could not
            be written), 3 too little could be decided, or nothing (all rows muted, say).
Examples:
  assay nightly datasets/suites/cpu.toml --junit night.xml --html night.html
  assay nightly cpu.toml --require-baseline --markdown "$GITHUB_STEP_SUMMARY" --annotations
  assay nightly cpu.toml --dry-run)";

}  // namespace

void add_nightly_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<NightlyOptions>();
    CLI::App* command = program.add_subcommand(
        "nightly", "Run a suite, compare with its baseline, fail on confirmed regressions");
    command->group("Gate");
    command->add_option("suite", options->suite, "SUITE.toml: what a night runs")->required();
    command->add_option("--baseline", options->baseline,
                        "Name of the baseline (default: that of the suite); an error without it");
    command->add_flag("--require-baseline", options->require_baseline,
                      "An error, before anything runs, where there is no baseline");
    command->add_flag("--dry-run", options->dry_run, "Print the plan, run nothing");
    command->add_flag("--fresh", options->fresh, "Do not go on with an interrupted night");
    command->add_flag("--no-lock", options->no_lock,
                      "Run beside another measured run; both disturb each other");
    command
        ->add_option("--wait", options->wait,
                     "How long to wait for another measured run to end; 0: not at all")
        ->type_name("TIME")
        ->capture_default_str();
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
