// assay report: one self-contained HTML file.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/cli/claim_checks.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/json_output.hpp"
#include "suite/cli/output_file.hpp"
#include "suite/cli/reading_database.hpp"
#include "suite/cli/session_summary.hpp"
#include "suite/report/claims_summary.hpp"
#include "suite/report/report.hpp"

namespace assay::cli {
namespace {

struct ReportOptions {
    std::vector<std::string> patterns;
    std::string file = "assay-report.html";
    bool gate = false;
    bool json = false;
};

int run_report(const Context& context, const ReportOptions& options) {
    report::HtmlInput input;
    input.registry = &context.registry;
    const std::vector<std::string> all{"all"};
    for (const std::string& pattern : options.patterns.empty() ? all : options.patterns)
        for (const Experiment* experiment : context.registry.select(pattern))
            if (std::find(input.experiments.begin(), input.experiments.end(), experiment) ==
                input.experiments.end())
                input.experiments.push_back(experiment);
    const store::Store store = open_existing(context);
    input.store = &store;
    input.claims = select_claims(context.registry, options.patterns);
    const std::string html = report::html(input);
    write_output(options.file, html);
    if (options.json && options.file != "-") {
        nlohmann::json ids = nlohmann::json::array();
        for (const Experiment* experiment : input.experiments) ids.push_back(experiment->id);
        print_json({{"file", options.file}, {"bytes", html.size()}, {"experiments", ids}});
    } else if (options.file != "-") {
        std::cout << "report: " << options.file << '\n';
    }
    return options.gate &&
                   any_contradicted(report::newest_checks(context.registry, &store, input.claims))
               ? exit_regression
               : exit_ok;
}

}  // namespace

void add_report_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App* command =
        program.add_subcommand("report", "Tables, figures and verdicts as one HTML file");
    command->group("Results");
    command->add_option("experiments", options->patterns, "Ids or patterns (default: all)");
    command->add_option("-o,--output", options->file, "HTML file, or - for standard output")
        ->type_name("FILE")
        ->capture_default_str();
    command->add_flag("--gate", options->gate, "Exit 2 when a claim is contradicted");
    command->add_flag("--json", options->json, "Print what was written as JSON");
    add_database_option(*command, context);
    command->footer("Example:\n  assay report lazarus -o lazarus.html");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_report(context, *options); };
    });
}

}  // namespace assay::cli
