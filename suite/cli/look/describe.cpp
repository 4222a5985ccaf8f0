// assay describe: one experiment with its axes, variants, metrics, profiles and claims.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/experiment/catalogue.hpp"
#include "suite/report/text/text_table.hpp"

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

std::vector<const Claim*> claims_of(const Registry& registry, const Experiment& experiment) {
    std::vector<const Claim*> claims;
    if (const System* system = registry.system(experiment.system()))
        for (const Claim& claim : system->claims)
            if (claim.experiment == experiment.id) claims.push_back(&claim);
    return claims;
}

/// That a fault of this experiment can name beside "step".
FaultPhases phases_of(const Registry& registry, const Experiment& experiment) {
    const System* system = registry.system(experiment.system());
    return system && experiment.takes_faults ? system->fault_phases : FaultPhases{};
}

void print_axes(const Experiment& experiment) {
    if (experiment.axes.empty()) return;
    std::cout << "\nAxes (narrow with -a NAME=VALUE,…)\n";
    std::vector<std::vector<std::string>> rows{{"axis", "values", ""}};
    for (const Axis& axis : experiment.axes)
        rows.push_back({axis.name,
                        fmt::format("{}{}", fmt::join(values_text(axis.values), ", "),
                                    axis.open ? ", or others" : ""),
                        axis.says});
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
    std::vector<std::vector<std::string>> rows{{"metric", "unit", "better", "labels", ""}};
    for (const MetricSpec& metric : experiment.metrics)
        rows.push_back({metric.name, metric.unit, std::string(to_string(metric.better)),
                        fmt::format("{}", fmt::join(metric.labels, ", ")), explained(metric)});
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
    std::vector<std::vector<std::string>> rows{{"phase", ""},
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
              << hanging("", experiment.says, columns) << '\n'
              << hanging("Variants: ", fmt::format("{}", fmt::join(experiment.variants, ", ")),
                         columns);
    for (const ProfilePlan& plan : experiment.profiles)
        if (!plan.variants.empty())
            std::cout << hanging(fmt::format("  {} without --variant: ", to_string(plan.profile)),
                                 fmt::format("{}", fmt::join(plan.variants, ", ")), columns);
    print_axes(experiment);
    print_metrics(experiment);
    print_profiles(experiment);
    print_faults(registry, experiment);
    const auto claims = claims_of(registry, experiment);
    if (!claims.empty()) std::cout << "\nClaims\n";
    for (const Claim* claim : claims)
        std::cout << hanging("  " + claim->id + ": ", claim->says, columns);
}

int run_describe(const Registry& registry, const DescribeOptions& options) {
    if (options.catalogue) {
        if (options.pattern != "all")
            throw UserError("--catalogue tells of all: assay describe all");
        print_json(catalogue_json(registry));
        return exit_ok;
    }
    const auto experiments = registry.select(options.pattern);
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
    command->footer(
        "Examples:\n"
        "  assay describe lazarus/fig8\n"
        "  assay describe 'lazarus/fig*' --json");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_describe(context.registry, *options); };
    });
}

}  // namespace assay::cli
