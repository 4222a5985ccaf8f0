#include "suite/cli/run/run_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "suite/base/error.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/comparison.hpp"
#include "suite/cli/selection.hpp"
#include "suite/experiment/value.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::cli {
namespace {

constexpr const char* default_margin = "1%";

/// Faults of --fault and of --scenario add up.
std::string canonical_scenario(const RunOptions& options, const FaultPhases& phases) {
    FaultPlan plan;
    if (!options.scenario_file.empty())
        plan = read_scenario(std::filesystem::path(options.scenario_file), phases);
    for (const std::string& text : options.faults) {
        const FaultPlan several = parse_fault_plan(text, phases);
        if (several.empty()) parse_fault(text, phases);  // says what it lacks
        plan.faults.insert(plan.faults.end(), several.faults.begin(), several.faults.end());
    }
    return to_string(plan);
}

/// Of the environment; `usual` where it has no number of seconds there.
double seconds_from(const char* variable, double usual) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return usual;
    char* end = nullptr;
    const double seconds = std::strtod(text, &end);
    return end != text && *end == '\0' && seconds >= 0 ? seconds : usual;
}

}  // namespace

double default_settle_s() { return seconds_from("ASSAY_SETTLE", 20); }

double default_rounds_budget_s() {
    return seconds_from("ASSAY_ROUNDS_BUDGET", runner::PrecisionOptions().budget_s);
}

void add_care_options(CLI::App& command, RunOptions& options, Context& context) {
    command
        .add_flag("--no-lock", options.no_lock,
                  "Run beside another measured run; both disturb each other")
        ->group("How");
    CLI::Option* no_doctor =
        command
            .add_flag("--no-doctor", options.no_doctor,
                      "Do not look for what may disturb measured samples first, nor wait")
            ->group("How");
    command
        .add_option("--settle", options.settle_s,
                    "Wait at most so long until nothing else is busy, before something is measured")
        ->excludes(no_doctor)
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str()
        ->group("How");
    add_database_option(command, context);
}

void add_sampling_options(CLI::App& command, RunOptions& options, Context& context) {
    command.add_option("--profile", options.profile, "How large: toy, small, gpu, cluster, paper")
        ->capture_default_str()
        ->group("What");
    command
        .add_option("--mode", options.provenance,
                    "Provenance: exact, measured, emulated, simulated (default: the experiment's "
                    "first)")
        ->group("What");
    command.add_option("-a,--axis", options.axes, "Narrow an axis: AXIS=VALUE,… (repeatable)")
        ->type_name("AXIS=V1,V2")
        ->allow_extra_args(false)
        ->group("What");
    command.add_option("--variant", options.variants, "Only these variants (repeatable)")
        ->type_name("NAME")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("What");
    command.add_option("--skip", options.skip, "Leave out an id or pattern (repeatable)")
        ->type_name("ID")
        ->allow_extra_args(false)
        ->group("What");
    command.add_option("--seed", options.seed, "Seed of the first round; each round adds one")
        ->type_name("N")
        ->capture_default_str()
        ->group("What");
    command
        .add_option("--fault", options.faults,
                    "A fault, or several with ; between them: "
                    "KIND:key=value,…@step=N|t=SECONDS[,for=SECONDS] (repeatable); kinds and "
                    "keys: datasets/scenarios/README.md; phases: assay describe EXPERIMENT")
        ->type_name("FAULT")
        ->allow_extra_args(false)
        ->group("Faults");
    command.add_option("--scenario", options.scenario_file, "Faults from a TOML file")
        ->type_name("FILE")
        ->group("Faults");
    command.add_option("--timeout", options.timeout_s, "Seconds after which a sample is killed")
        ->type_name("SECONDS")
        ->group("How");
    add_care_options(command, options, context);
}

void add_session_options(CLI::App& command, RunOptions& options) {
    command
        .add_option("--jobs", options.jobs,
                    "Samples at once that are simulated or measure no times; all others have the "
                    "machine alone (default: one per processor)")
        ->type_name("N")
        ->check(CLI::Range(1, 4096))
        ->group("How");
    command.add_flag("--fresh", options.fresh, "Start a new session even if one can be resumed")
        ->group("How");
    command.add_flag("--dry-run", options.dry_run, "Print the plan with estimates; run nothing")
        ->group("How");
    command
        .add_flag("--gate", options.gate,
                  "Exit 2 when a claim is contradicted, 3 when a sample is invalid")
        ->group("How");
}

void add_run_options(CLI::App& command, RunOptions& options, Context& context) {
    add_sampling_options(command, options, context);
    command
        .add_option("--rounds", options.rounds,
                    "Samples per case and variant (default: the profile's, of what is "
                    "measured more: as many as tell two runs apart)")
        ->group("What");
    add_session_options(command, options);
    command
        .add_flag("--all-metrics", options.all_metrics,
                  "Print every metric of every case, not only what the figure shows")
        ->group("Output");
}

void add_decision_options(CLI::App& command, DecisionWords& words) {
    command.add_option("--margin", words.margin, "Smaller changes do not matter: 2% or 0.02")
        ->type_name("SHARE")
        ->default_str(default_margin)
        ->group("Until decided");
    command
        .add_option("--budget", words.budget,
                    "Time for all samples together: 90s, 10m, 2h (default: no limit)")
        ->type_name("TIME")
        ->group("Until decided");
    command
        .add_option("--max-rounds", words.max_rounds, "What is not decided then stays ambiguous")
        ->type_name("N")
        ->default_str(std::to_string(runner::DecisionOptions().max_rounds))
        ->group("Until decided");
    command
        .add_option("--metric", words.metrics,
                    "What decides (repeatable; default: the metric of the figure)")
        ->type_name("NAME")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("Until decided");
}

runner::Request make_request(const RunOptions& options, const Context& context) {
    runner::Request request;
    request.patterns = options.patterns;
    request.profile = profile_named(options.profile);
    if (!options.provenance.empty()) request.provenance = provenance_named(options.provenance);
    for (const std::string& axis : options.axes) add_axis(axis, request.axes);
    request.variants = options.variants;
    request.skip = options.skip;
    request.rounds = options.rounds;
    request.seed = parse_seed(options.seed);
    request.scenario_given = !options.faults.empty() || !options.scenario_file.empty();
    if (request.scenario_given)
        request.scenario = canonical_scenario(options, context.registry.fault_phases());
    request.timeout_s = options.timeout_s;
    if (request.timeout_s && !std::isfinite(*request.timeout_s))
        throw UserError("--timeout: a number of seconds");
    if (options.until_decided) {
        request.until_decided = decision_options(options.decision);
        request.until_decided->against = options.against;
    }
    request.jobs = options.jobs;
    request.fresh = options.fresh;
    request.lock = !options.no_lock;
    request.command = context.command_line;
    return request;
}

void refuse_undecided_words(const RunOptions& options) {
    if (options.until_decided) return;
    std::vector<std::string> given;
    if (!options.against.empty()) given.emplace_back("--against");
    if (options.decision.margin) given.emplace_back("--margin");
    if (!options.decision.budget.empty()) given.emplace_back("--budget");
    if (options.decision.max_rounds) given.emplace_back("--max-rounds");
    if (!options.decision.metrics.empty()) given.emplace_back("--metric");
    if (!given.empty())
        throw UserError(
            fmt::format("{} without --until-decided: a run of fixed rounds decides "
                        "nothing; add --until-decided, or leave {} out",
                        fmt::join(given, ", "), given.size() == 1 ? "it" : "them"));
}

double parse_duration_s(const std::string& text, const std::string& flag) {
    const char* const end = text.data() + text.size();
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    const double factor = unit.empty() || unit == "s" ? 1
                          : unit == "m"               ? 60
                          : unit == "h"               ? 3600
                                                      : 0;
    if (error != std::errc() || !std::isfinite(value) || !(value * factor > 0))
        throw UserError(
            fmt::format("{} '{}': a time above 0, for example 90s, 10m or 2h", flag, text));
    return value * factor;
}

runner::DecisionOptions decision_options(const DecisionWords& words) {
    runner::DecisionOptions options;
    options.margin = parse_margin(words.margin.value_or(default_margin));
    if (!words.budget.empty()) options.budget_s = parse_duration_s(words.budget, "--budget");
    if (words.max_rounds) options.max_rounds = *words.max_rounds;
    options.metrics = words.metrics;
    return options;
}

}  // namespace assay::cli
