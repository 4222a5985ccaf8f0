// assay replay: reruns a stored sample with its exact case, scenario and seed, and says whether
// what is declared deterministic comes out equal. With --policy only its decisions are made again.
#include "suite/cli/run/replay.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/run/policy_replay.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/table.hpp"
#include "suite/runner/input_hash.hpp"
#include "suite/runner/machine_lock.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

ReplayComparison compare_replay(const Experiment& experiment, const store::Sample& stored,
                                const store::Sample& replayed) {
    std::map<std::string, ComparedMetric> metrics;
    const auto add = [&](const store::Sample& sample, std::optional<double> ComparedMetric::*side) {
        // A metric recorded twice under one key counts with its last value on both sides.
        for (const store::MetricValue& value : sample.metrics) {
            const std::string key = metric_key(value.name, value.labels);
            ComparedMetric& metric = metrics[key];
            metric.key = key;
            const MetricSpec* declared = experiment.metric(value.name);
            metric.deterministic =
                declared != nullptr && declared->is_deterministic(sample.spec.provenance);
            metric.*side = value.value;
        }
    };
    add(stored, &ComparedMetric::stored);
    add(replayed, &ComparedMetric::replayed);
    ReplayComparison comparison;
    for (auto& [key, metric] : metrics) comparison.metrics.push_back(std::move(metric));
    comparison.stored_status = stored.status;
    comparison.replayed_status = replayed.status;
    comparison.replayed_reason = replayed.reason;
    return comparison;
}

long ReplayComparison::deterministic() const {
    return std::count_if(metrics.begin(), metrics.end(),
                         [](const ComparedMetric& metric) { return metric.deterministic; });
}

long ReplayComparison::disagreeing() const {
    return std::count_if(metrics.begin(), metrics.end(), [](const ComparedMetric& metric) {
        return metric.deterministic && !metric.equal();
    });
}

namespace {

const report::Table<ComparedMetric>& metric_table() {
    using Metric = ComparedMetric;
    static const auto yes_or_no = [](const nlohmann::json& yes) {
        return std::string(yes.get<bool>() ? "yes" : "no");
    };
    static const report::Table<Metric> table{
        {"metric", "metric", &Metric::key},
        {"stored", "stored", [](const Metric& one) { return report::number_or_null(one.stored); },
         report::or_else("-")},
        {"replayed", "replayed",
         [](const Metric& one) { return report::number_or_null(one.replayed); },
         report::or_else("-")},
        {"", "difference",
         [](const Metric& one) {
             if (!one.stored || !one.replayed || *one.stored == 0) return std::string();
             return fmt::format("{:+.2g} %", (*one.replayed / *one.stored - 1) * 100);
         }},
        {"deterministic", "must be equal", &Metric::deterministic, yes_or_no},
        {"equal", "", std::mem_fn(&Metric::equal)}};
    return table;
}

}  // namespace

nlohmann::json to_json(const ReplayComparison& comparison, const std::string& id) {
    return {{"id", id},
            {"agrees", comparison.agrees()},
            {"deterministic", comparison.deterministic()},
            {"same_data",
             comparison.same_data ? nlohmann::json(*comparison.same_data) : nlohmann::json()},
            {"status",
             {{"stored", comparison.stored_status}, {"replayed", comparison.replayed_status}}},
            {"reason", comparison.replayed_reason},
            {"metrics", metric_table().values(comparison.metrics)}};
}

std::string to_text(const ReplayComparison& comparison) {
    // Equal deterministic metrics can be hundreds; they are counted, the rest is shown.
    std::vector<ComparedMetric> told;
    long equal = 0;
    for (const ComparedMetric& metric : comparison.metrics) {
        if (metric.deterministic && metric.equal())
            ++equal;
        else
            told.push_back(metric);
    }
    std::string text =
        told.empty() ? "" : report::text_table(metric_table().shown(told), text_columns());
    if (!comparison.same_status())
        text += fmt::format(
            "the stored sample was {}, the replay is {}{}\n", comparison.stored_status,
            comparison.replayed_status,
            comparison.replayed_reason.empty() ? "" : ": " + comparison.replayed_reason);
    if (!comparison.same_data.value_or(true))
        text += "the files that the sample reads have other content now than they had then\n";
    if (comparison.deterministic() == 0)
        text += "no deterministic metric to compare\n";
    else
        text += fmt::format("{} of {} deterministic metrics agree to the last bit\n", equal,
                            comparison.deterministic());
    return text;
}

namespace {

struct ReplayOptions {
    std::string id;
    bool policy = false;
    std::optional<double> timeout_s;
    bool no_lock = false;
    bool json = false;
};

std::string described(const SampleSpec& spec) {
    const std::string axes = assay::to_string(spec.axes);
    return fmt::format("{} {}{}{} seed {}{}{}", spec.experiment, spec.variant,
                       axes.empty() ? "" : " ", axes, spec.seed,
                       spec.scenario.empty() ? "" : ", faults ", spec.scenario);
}

/// nullopt: nobody noted what it read, or that is not here now (which the replay says by itself).
std::optional<bool> has_same_data(const Experiment& experiment, const SampleSpec& spec,
                                  const std::string& stored) {
    if (stored.empty()) return std::nullopt;
    const std::string now = runner::data_hash(runner::InputHash().as_found(experiment, spec));
    return now.empty() ? std::nullopt : std::optional(now == stored);
}

/// Its status line is gone when this returns.
store::Sample run_shown(const SampleSpec& spec) {
    LiveProgress progress(terminal_width());
    return runner::run_once(spec, [&](const runner::Notice& notice) { progress.on(notice); });
}

ExitCode verdict(const ReplayComparison& comparison) {
    if (comparison.replayed_status == to_string(SampleStatus::interrupted)) return exit_error;
    if (comparison.replayed_status == to_string(SampleStatus::unsupported) &&
        !comparison.same_status())
        return exit_not_supported;
    // Other values of other data say nothing about the program.
    if (!comparison.agrees())
        return comparison.same_data.value_or(true) ? exit_regression : exit_ambiguous;
    return comparison.deterministic() == 0 ? exit_ambiguous : exit_ok;
}

int run_replay(const Context& context, const ReplayOptions& options) {
    const store::Store store = open_existing(context);
    const store::Sample stored = store.sample(options.id);
    if (options.policy) {
        const auto recordings = replay_policy(context.registry, stored);
        if (options.json)
            print_json(to_json(recordings, stored.id));
        else
            std::cout << to_text(recordings);
        return verdict(recordings);
    }
    const Experiment* experiment = context.registry.experiment(stored.spec.experiment);
    if (experiment == nullptr)
        throw UserError(fmt::format("sample {} is of {}, which this build does not have", stored.id,
                                    stored.spec.experiment));
    SampleSpec spec = stored.spec;
    if (options.timeout_s && !(*options.timeout_s > 0))
        throw UserError("--timeout: more than 0 seconds");
    if (options.timeout_s) spec.timeout_s = *options.timeout_s;
    std::optional<runner::MachineLock> lock;
    if (!options.no_lock &&
        (spec.provenance == Provenance::measured || spec.provenance == Provenance::emulated))
        lock.emplace(runner::MachineLock::default_path(), context.command_line);
    const auto same_data = has_same_data(*experiment, spec, store.series(stored.series).data);
    print_line(std::cerr, "replaying " + described(spec));
    const store::Sample replayed = run_shown(spec);
    ReplayComparison comparison = compare_replay(*experiment, stored, replayed);
    comparison.same_data = same_data;
    if (options.json)
        print_json(to_json(comparison, stored.id));
    else
        std::cout << to_text(comparison);
    return verdict(comparison);
}

}  // namespace

void add_replay_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ReplayOptions>();
    CLI::App* command =
        program.add_subcommand("replay", "Rerun a stored sample; do deterministic metrics agree?");
    command->group("Run");
    command->add_option("id", options->id, "A sample's id, or the beginning of it")->required();
    CLI::Option* policy = command->add_flag(
        "--policy", options->policy,
        "Run nothing: tell the system's policy once more of what it was told then; does it decide "
        "the same?");
    command->add_option("--timeout", options->timeout_s, "Seconds after which it is killed")
        ->type_name("SECONDS")
        ->excludes(policy);
    command->add_flag("--no-lock", options->no_lock, "Run beside another measured run")
        ->excludes(policy);
    command->add_flag("--json", options->json, "Print JSON");
    add_database_option(*command, context);
    command->footer(
        "Exit code 0: they agree; 2: they do not; 3: the sample has no deterministic metric, or "
        "they do not and the files that it reads have other content now. With --policy 0: the "
        "same decisions; 2: one differs; 3: there were none.\n"
        "Examples:\n  assay replay 3f2a9c01\n  assay replay 3f2a9c01 --policy");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_replay(context, *options); };
    });
}

}  // namespace assay::cli
