// assay headlines: the papers' own headline numbers beside ours.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/selection.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/headlines.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::cli {
namespace {

struct HeadlinesOptions {
    std::vector<std::string> systems;
    bool markdown = false, json = false;
};

int run_headlines(const Context& context, const HeadlinesOptions& options) {
    expect_one_on_standard_output({{"--markdown", options.markdown}, {"--json", options.json}});
    auto claims = select_claims(context.registry, options.systems);
    std::erase_if(claims, [](const Claim* claim) { return !claim->headline; });
    const auto store = open_if_any(context);
    // A page that is written for others says nothing of what this machine happens to have.
    const NeedIsHere here =
        options.markdown ? [](const std::string&) { return false; } : NeedIsHere(data::is_here);
    const std::vector<report::Headline> rows = report::headlines(
        context.registry,
        report::checks_of_today(context.registry, store ? &*store : nullptr, claims, here), here);
    if (options.json) {
        nlohmann::json array = nlohmann::json::array();
        for (const report::Headline& row : rows) array.push_back(report::headline_json(row));
        print_json(array);
    } else if (rows.empty()) {
        std::cout << "no headline is among these claims; " + suggested("headlines") +
                         " shows all\n";
    } else {
        std::cout << (options.markdown ? report::markdown_table(report::headlines_grid(rows))
                                       : report::headlines_table(rows, text_columns()));
    }
    return exit_ok;
}

}  // namespace

void add_headlines_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<HeadlinesOptions>();
    CLI::App* command = program.add_subcommand(
        "headlines", "The papers' headline numbers beside ours, one line of why each");
    command->group("Results");
    command->add_option("systems", options->systems,
                        "Systems, experiments or claims: lazarus, hetermoe/fig7 (default: all)");
    command->add_flag("--markdown", options->markdown, "As a Markdown table");
    command->add_flag("--json", options->json, "Print JSON");
    add_database_option(*command, context);
    command->footer(
        "Judged anew by what is stored, as `assay claims --again` does. In brackets a 95 % "
        "interval\n"
        "over seeds, where there are several. `assay claims ID` gives the whole reason of a "
        "verdict.\n"
        "Examples:\n"
        "  assay headlines\n"
        "  assay headlines hetermoe plato --json\n"
        "  assay headlines --markdown               # the table of a README");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_headlines(context, *options); };
    });
}

}  // namespace assay::cli
