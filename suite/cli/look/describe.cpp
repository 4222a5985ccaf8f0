// assay describe: one experiment with its axes, variants, metrics, profiles and claims.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/claim/tolerance.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/experiment/catalogue.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/report/text/stored_experiment.hpp"
#include "suite/report/text/text_table.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {
namespace {

struct DescribeOptions {
    std::string pattern;
    bool json = false, catalogue = false;
};

std::vector<std::string> values_text(const std::vector<Value>& values) {
    std::vector<std::string> texts;
    for (const Value& value : values) texts.push_back(to_string(value));
    return texts;
}

/// "0, 0.5, or others"; "any" where there is none but the empty one.
std::string axis_values_text(const Axis& axis) {
    const std::string texts = fmt::format("{}", fmt::join(values_text(axis.values), ", "));
    if (axis.values.empty()) return "any (must be given)";
    if (!axis.open) return texts;
    return texts.empty() ? "any" : texts + ", or others";
}

std::vector<const Claim*> claims_of(const Registry& registry, const Experiment& experiment) {
    std::vector<const Claim*> claims;
    if (const System* system = registry.system(experiment.system()))
        for (const Claim& claim : system->claims)
            if (claim.experiment == experiment.id) claims.push_back(&claim);
    return claims;
}

/// ": 2.3 ± 10 %", ": at least 2.3"; a check in a system's code names itself in parentheses.
std::string checked_against(const Claim& claim) {
    if (claim.metric.empty() && !claim.test.custom()) return "";
    const std::string text = wanted_text(claim);
    return text.empty() ? "" : ": " + text;
}

/// That a fault of this experiment can name beside "step".
FaultPhases phases_of(const Registry& registry, const Experiment& experiment) {
    const System* system = registry.system(experiment.system());
    return system && experiment.takes_faults ? system->fault_phases : FaultPhases{};
}

void print_axes(const Experiment& experiment) {
    if (experiment.axes.empty()) return;
    std::cout << "\nAxes (narrow with -a NAME=VALUE,…)\n";
    std::vector<std::vector<std::string>> rows{{"axis", "values", "meaning"}};
    for (const Axis& axis : experiment.axes)
        rows.push_back({axis.name, axis_values_text(axis), axis.says});
    std::cout << report::text_table(rows, prose_columns());
}

/// What it says, then in parentheses what else there is to know.
std::string explained(const MetricSpec& metric) {
    std::vector<std::string> notes;
    if (metric.deterministic) {
        std::string but;
        for (const Provenance one : metric.varies)
            but += fmt::format(", {} samples apart", to_string(one));
        notes.push_back("deterministic" + but);
    }
    std::vector<std::string_view> only;
    for (const Provenance one : metric.only) only.push_back(to_string(one));
    if (!only.empty()) notes.push_back(fmt::format("{} samples only", fmt::join(only, " and ")));
    return notes.empty() ? metric.says
                         : fmt::format("{} ({})", metric.says, fmt::join(notes, "; "));
}

void print_metrics(const Experiment& experiment) {
    std::cout << "\nMetrics\n";
    std::vector<std::vector<std::string>> rows{{"metric", "unit", "better", "labels", "meaning"}};
    for (const MetricSpec& metric : experiment.metrics)
        rows.push_back({metric.name, metric.unit, std::string(to_string(metric.better)),
                        fmt::format("{}", fmt::join(metric.labels, ", ")), explained(metric)});
    constexpr std::size_t labels = 3;
    if (std::all_of(rows.begin() + 1, rows.end(),
                    [](const auto& row) { return row[labels].empty(); }))
        for (auto& row : rows) row.erase(row.begin() + labels);
    std::cout << report::text_table(rows, prose_columns());
}

void print_profiles(const Experiment& experiment) {
    std::cout << "\nProfiles\n";
    std::vector<std::vector<std::string>> rows{
        {"profile", "provenance", "rounds", "s per sample", "axes"}};
    for (const ProfilePlan& plan : experiment.profiles) {
        std::vector<std::string_view> provenances;
        for (const Provenance provenance : plan.provenances)
            provenances.push_back(to_string(provenance));
        std::string axes;
        for (const auto& [name, values] : plan.axes)
            if (!values.empty())
                axes += fmt::format("{}{}={}", axes.empty() ? "" : " ", name,
                                    fmt::join(values_text(values), ","));
        rows.push_back(
            {std::string(to_string(plan.profile)), fmt::format("{}", fmt::join(provenances, ", ")),
             std::to_string(plan.rounds), report::number(plan.seconds_per_sample), axes});
    }
    std::cout << report::text_table(rows, prose_columns());
}

void print_faults(const Registry& registry, const Experiment& experiment) {
    if (!experiment.takes_faults) return;
    const std::string& usual = experiment.default_scenario;
    std::cout << '\n'
              << hanging("Takes --fault and --scenario; without them: ",
                         usual.empty() ? "no faults" : usual, prose_columns());
    const FaultPhases phases = phases_of(registry, experiment);
    if (phases.empty()) return;
    std::cout << "\nWhere a kill or a hang can strike (phase=NAME)\n";
    std::vector<std::vector<std::string>> rows{{"phase", "meaning"},
                                               {"step", "inside the step (default)"}};
    for (const FaultPhase& phase : phases)
        rows.push_back({phase.name, phase.corruptible
                                        ? phase.says + "; its messages can be corrupted, too"
                                        : phase.says});
    std::cout << report::text_table(rows, prose_columns());
}

void print_text(const Registry& registry, const Experiment& experiment) {
    const std::size_t columns = prose_columns();
    std::cout << hanging("", experiment.id + ": " + experiment.title, columns)
              << hanging("", experiment.source, columns) << '\n'
              << hanging("", experiment.says, columns);
    // What came from another program may have none.
    if (experiment.variants != std::vector<std::string>{""})
        std::cout << '\n'
                  << hanging("Variants: ", fmt::format("{}", fmt::join(experiment.variants, ", ")),
                             columns);
    for (const ProfilePlan& plan : experiment.profiles)
        if (!plan.variants.empty())
            std::cout << hanging(fmt::format("  {} without --variant: ", to_string(plan.profile)),
                                 fmt::format("{}", fmt::join(plan.variants, ", ")), columns);
    print_axes(experiment);
    print_metrics(experiment);
    if (registry.experiment(experiment.id)) print_profiles(experiment);
    print_faults(registry, experiment);
    const auto claims = claims_of(registry, experiment);
    if (!claims.empty()) std::cout << "\nClaims\n";
    for (const Claim* claim : claims)
        std::cout << hanging("  ", claim->id + checked_against(*claim), columns)
                  << hanging("    ", claim->says, columns);
}

/// The database is asked only of what the registry does not know.
report::SelectedExperiments described(const Context& context, const std::string& pattern) {
    report::SelectedExperiments experiments;
    const auto add = [&](const store::Store* store) {
        experiments.add(context.registry, store, pattern);
    };
    try {
        if (!pattern.starts_with(benchmark_prefix)) add(nullptr);
    } catch (const UnknownExperiment&) {
    }
    if (!experiments.all().empty()) return experiments;
    const auto store = open_if_any(context);
    add(store ? &*store : nullptr);
    return experiments;
}

int run_describe(const Context& context, const DescribeOptions& options) {
    const Registry& registry = context.registry;
    if (options.catalogue) {
        if (options.pattern != "all")
            throw UserError("--catalogue tells of all: assay describe all");
        print_json(catalogue_json(registry));
        return exit_ok;
    }
    const report::SelectedExperiments selected = described(context, options.pattern);
    const std::vector<const Experiment*>& experiments = selected.all();
    if (options.json) {
        if (experiments.size() == 1) {
            print_json(experiment_json(registry, *experiments.front()));
            return exit_ok;
        }
        nlohmann::json array = nlohmann::json::array();
        for (const Experiment* experiment : experiments)
            array.push_back(experiment_json(registry, *experiment));
        print_json(array);
        return exit_ok;
    }
    for (const Experiment* experiment : experiments) {
        if (experiment != experiments.front()) std::cout << "\n----\n\n";
        print_text(registry, *experiment);
    }
    return exit_ok;
}

}  // namespace

void add_describe_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<DescribeOptions>();
    CLI::App* command = program.add_subcommand(
        "describe", "One experiment: axes, variants, metrics, profiles, claims");
    command->group("Look");
    command->add_option("experiment", options->pattern, "An id or a pattern")->required();
    command->add_flag("--json", options->json, "Print JSON: an object, or an array for a pattern");
    command->add_flag("--catalogue", options->catalogue,
                      "Print JSON for other programs: every system, its events and experiments");
    add_database_option(*command, context);
    command->footer(
        "What was imported is described from the database.\n"
        "Examples:\n"
        "  assay describe lazarus/fig8\n"
        "  assay describe 'lazarus/fig*' --json\n"
        "  assay describe benchmark/BM_copy/64");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_describe(context, *options); };
    });
}

}  // namespace assay::cli
