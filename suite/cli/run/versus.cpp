// assay versus: two builds of this program against each other, in paired rounds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/comparison.hpp"
#include "suite/cli/run/run_options.hpp"
#include "suite/cli/run/warnings_before_run.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/compare/rows_output.hpp"
#include "suite/report/comparison/comparison_table.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/runner/versus/versus.hpp"

namespace assay::cli {
namespace {

struct VersusOptions {
    RunOptions run;  ///< patterns: programs and experiments as typed
    DecisionWords decision;
    bool no_control = false;
};

/// Ids and patterns of experiments hold a slash, too; what the registry knows is no file.
bool is_program(const Registry& registry, const std::string& typed) {
    try {
        registry.select(typed);
        return false;
    } catch (const UnknownExperiment&) {
        std::error_code error;
        return std::filesystem::is_regular_file(typed, error);
    }
}

std::string control_line(const runner::VersusOutcome& outcome) {
    if (outcome.control.empty()) return {};
    const auto [low, high] = std::minmax_element(outcome.control.begin(), outcome.control.end());
    return fmt::format("control workload: {} round{}, largest over smallest {:.3f}\n",
                       outcome.control.size(), outcome.control.size() == 1 ? "" : "s",
                       *high / *low);
}

/// How long was measured, and what ended it where that was the budget.
std::string rounds_line(const runner::VersusOutcome& outcome,
                        const runner::DecisionOptions& decision) {
    std::string text = fmt::format("{} round{} of at most {}, {} of samples\n", outcome.rounds,
                                   outcome.rounds == 1 ? "" : "s", decision.max_rounds,
                                   duration_text(outcome.taken_s));
    if (!outcome.budget_ended) return text;
    std::vector<std::string> undecided;
    const report::RowNames names = compare::names_of(outcome.rows);
    for (std::size_t i = 0; i < outcome.rows.size(); ++i)
        if (outcome.row_rounds[i].end == runner::RoundsEnd::budget &&
            outcome.rows[i].verdict == compare::RowVerdict::ambiguous)
            undecided.push_back(names.of(outcome.rows[i].id).text());
    text += fmt::format("the budget of {} ended the measuring, {} samples were not run; ",
                        duration_text(decision.budget_s), outcome.saved);
    if (undecided.empty()) return text + "nothing is left undecided\n";
    return text + fmt::format("still undecided: {}\n", fmt::join(undecided, "; "));
}

/// compare()'s rows, and by what their rounds ended.
nlohmann::json versus_json(const runner::VersusOutcome& outcome) {
    nlohmann::json rows = compare::rows_json(outcome.rows);
    for (std::size_t i = 0; i < outcome.rows.size(); ++i) {
        rows[i]["rounds"] = outcome.row_rounds[i].complete;
        rows[i]["ended"] = runner::to_string(outcome.row_rounds[i].end);
    }
    return rows;
}

void print_versus(const runner::VersusOutcome& outcome, const runner::DecisionOptions& decision) {
    const report::TableLook look{drawing_width(100), colours_wanted()};
    std::vector<report::NumberedRow> rows;
    for (std::size_t i = 0; i < outcome.rows.size(); ++i) rows.push_back({i + 1, &outcome.rows[i]});
    compare::Options rules;
    rules.margin = decision.margin;
    rules.level = decision.level;
    const std::size_t columns = text_columns();
    std::cout << fitted_lines(report::comparison_header(*outcome.old_arm, *outcome.new_arm, rules),
                              columns);
    print_coloured(report::comparison_table(rows, look));
    std::cout << report::comparison_reasons(rows, look) << report::comparison_warnings(rows, look)
              << fitted_lines(comparison_summary(outcome.rows) + rounds_line(outcome, decision) +
                                  control_line(outcome) +
                                  (outcome.budget_ended ? "" : report::saved_line(outcome.saved)),
                              columns)
              << "once more: "
              << suggested_line(fmt::format("compare {} {}", outcome.old_session.substr(0, 8),
                                            outcome.new_session.substr(0, 8)))
              << '\n';
    if (outcome.interrupted) std::cout << "interrupted\n";
}

int run_versus(const VersusOptions& options, const Context& context) {
    runner::VersusRequest request;
    std::vector<std::string> typed = options.run.patterns;
    request.old_program = runner::ask_program(typed.front());
    typed.erase(typed.begin());
    if (!typed.empty() && is_program(context.registry, typed.front())) {
        request.new_program = runner::ask_program(typed.front());
        typed.erase(typed.begin());
    } else {
        request.new_program = runner::this_program();
    }
    RunOptions what = options.run;
    what.patterns = typed;
    request.what = make_request(what, context);
    request.decision = decision_options(options.decision);
    request.control = !options.no_control;
    const runner::Plan plan = runner::make_plan(context.registry, request.what);
    const auto lock = lock_machine(plan, request.what.lock, context.command_line);
    request.what.lock = false;  // it is taken
    if (!options.run.no_doctor)
        if (const auto warnings = warnings_before_run(plan, options.run.settle_s))
            request.what.suspects["warnings"] = *warnings;
    store::Store store = open_or_begin(context);
    LiveProgress progress(terminal_width());
    const runner::VersusOutcome outcome =
        runner::versus(context.registry, request, store,
                       [&](const runner::Notice& notice) { progress.on(notice); });
    if (options.run.json)
        print_json(versus_json(outcome));
    else
        print_versus(outcome, request.decision);
    if (outcome.interrupted) return exit_error;
    return comparison_exit_code(outcome.rows);
}

constexpr const char* versus_footer =
    R"(Each round runs the same sample, seed by seed, in a fresh process of either program:
old, new, then new, old, and so on. Rounds end when the ratio's interval, which holds
however often one looks, is inside the margin or outside of it. Two sessions are stored.
Exit codes: 0 nothing slower, 1 usage or infrastructure, 2 a row is slower, or
            failed and did not before, 3 none is, but some are ambiguous,
            4 nothing was comparable (what fails in both is not).
Examples:
  assay versus ./assay-old lazarus/fig8
  assay versus ./assay-old ./assay-new lte/fig8 --margin 2% --budget 10m --json)";

}  // namespace

void add_versus_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<VersusOptions>();
    CLI::App* command =
        program.add_subcommand("versus", "Two builds of this program against each other");
    command->group("Run");
    command
        ->add_option("programs-and-experiments", options->run.patterns,
                     "OLD_PROGRAM [NEW_PROGRAM] EXPERIMENT…; new: this program")
        ->required();
    add_sampling_options(*command, options->run, context);
    add_decision_options(*command, options->decision);
    command
        ->add_flag("--no-control", options->no_control,
                   "Leave out the control workload that tells how the machine itself fares")
        ->group("How");
    command
        ->add_flag("--json", options->run.json,
                   "[{\"series\",\"metric\",\"unit\",\"ratio\",\"low\",\"high\",\"n_a\","
                   "\"n_b\",\"verdict\",\"reason\",\"id\",\"name\",\"warnings\",\"errors\"}], as "
                   "of compare, and \"rounds\", \"ended\": decided, budget, rounds, no pairs, "
                   "interrupted")
        ->group("Output");
    command->footer(versus_footer);
    command->callback([options, &context] {
        context.action = [options, &context] { return run_versus(*options, context); };
    });
}

}  // namespace assay::cli
