// assay history: how a metric went from session to session, with its change points.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/history_list.hpp"
#include "suite/cli/results/history_selection.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/compare/selector.hpp"
#include "suite/report/figures/svg_writer.hpp"
#include "suite/report/trend/trend.hpp"

namespace assay::cli {
namespace {

struct HistoryCommandOptions {
    HistorySelection selection;
    report::TrendOptions trend;
    std::string since;
    std::string svg;
    bool all = false, json = false, csv = false;
};

void refuse_impossible(const HistoryCommandOptions& options) {
    const auto& changes = options.trend.changes;
    if (changes.window < 2) throw UserError("--window: at least 2 sessions");
    if (!(changes.p > 0 && changes.p < 1)) throw UserError("--p: between 0 and 1");
    if (!(changes.min_magnitude >= 0 && changes.min_magnitude < 1e9))
        throw UserError("--min-magnitude: a share, 0 or more; 0.05 is 5 %");
    if (options.selection.last < 0) throw UserError("--last: a number of sessions");
    if (!options.svg.empty()) expect_ending("--svg", options.svg, {".svg"});
    if (int(options.json) + int(options.csv) + int(!options.svg.empty()) > 1)
        throw UserError("give one of --json, --csv, --svg");
}

/// Where the output itself has no place for it. Most sessions are left out of many series.
void tell_what_is_left_out(const std::vector<report::Trend>& trends) {
    std::set<std::string> told;
    for (const report::Trend& trend : trends)
        for (const std::string& sentence : trend.left_out)
            if (told.insert(sentence).second) print_line(std::cerr, sentence);
}

int run_history(const Context& context, HistoryCommandOptions options) {
    refuse_impossible(options);
    const store::Store store = open_existing(context);
    if (!options.since.empty())
        options.selection.since = compare::select_sessions(store, "since:" + options.since,
                                                           std::chrono::system_clock::now())
                                      .sessions.front()
                                      .started;
    const auto trends = selected_trends(context.registry, store, options.selection, options.trend);
    const auto& rule = options.trend.rule;
    if (options.json) {
        print_json(report::trends_json(trends));
    } else if (options.csv) {
        tell_what_is_left_out(trends);
        write_output("-", report::trends_csv(trends));
    } else if (!options.svg.empty()) {
        if (trends.size() > 1)
            throw UserError(fmt::format(
                "--svg draws one series, and {} match; narrow with --metric, --variant, -a, "
                "--profile, --mode or --machine; without --svg they are listed",
                trends.size()));
        tell_what_is_left_out(trends);
        write_output(options.svg, report::to_svg(report::trend_plot(trends.front(), rule)));
    } else if (trends.size() > 1 && !options.all) {
        std::cout << trend_list(store, trends, text_columns())
                  << hanging("",
                             fmt::format("{} series; narrow with --metric, --variant, -a, "
                                         "--profile, --mode or --machine to draw one, or draw "
                                         "all with --all",
                                         trends.size()),
                             prose_columns());
    } else {
        for (const report::Trend& trend : trends)
            print_coloured((&trend == trends.data() ? "" : "\n") +
                           report::draw_trend(trend, rule, {drawing_width(), colours_wanted()}));
    }
    return exit_ok;
}

}  // namespace

void add_history_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<HistoryCommandOptions>();
    options->trend = report::usual_trend_options();
    HistorySelection& selection = options->selection;
    auto& changes = options->trend.changes;
    CLI::App* command = program.add_subcommand(
        "history", "How a metric went over the sessions, and where it changed");
    command->group("Results");
    command
        ->add_option("series", selection.pattern,
                     "An experiment's id, a system, lazarus/fig*, or a row as\n"
                     "reports print it, \"benchmark/gemv gemv/*\"")
        ->required();
    command->add_option("--metric", selection.metrics, "NAME or NAME{label=value} (repeatable)")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command->add_option("--variant", selection.variants, "Only these variants (repeatable)")
        ->type_name("NAME")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("-a,--axis", selection.axes, "Narrow an axis: AXIS=VALUE,… (repeatable)")
        ->type_name("AXIS=V1,V2")
        ->allow_extra_args(false);
    command->add_option("--profile", selection.profile, "toy, small, gpu, cluster, paper");
    command->add_option("--mode", selection.provenance,
                        "Provenance: exact, measured, emulated, simulated");
    command
        ->add_option("--machine", selection.machine,
                     "Only series of this machine, by the beginning of its\n"
                     "fingerprint as the list has it")
        ->type_name("FINGERPRINT");
    command->add_option("--since", options->since, "From 2026-11-01 on, or the last 12h, 7d, 2w")
        ->type_name("TIME");
    command->add_option("--last", selection.last, "The newest N sessions")->type_name("N");
    command->add_option("--window", changes.window, "Sessions looked at together")
        ->capture_default_str();
    command->add_option("--p", changes.p, "A change counts when its t-test gives less")
        ->capture_default_str();
    command
        ->add_option("--min-magnitude", changes.min_magnitude,
                     "Changes smaller than this share are left out, but for deterministic metrics")
        ->capture_default_str();
    command->add_flag("--all", options->all, "Draw all that match instead of listing them");
    command->add_flag("--json", options->json, "Print JSON");
    command->add_flag("--csv", options->csv, "Print one row per session");
    command->add_option("--svg", options->svg, "Draw into this file; - is standard output")
        ->type_name("FILE");
    add_database_option(*command, context);
    command->footer(
        "Examples:\n  assay history lte/fig8\n"
        "  assay history lte/fig8 --metric latency_s --variant lte -a sparsity=0.5\n"
        "  assay history lazarus/fig4 --metric 'recovery_probability{failed=4}' --variant plan_a "
        "\\\n"
        "      --last 60 --svg fig4.svg\n"
        "  assay history 'benchmark/gemv gemv/cpu/avx2/*' --all");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_history(context, *options); };
    });
}

}  // namespace assay::cli
