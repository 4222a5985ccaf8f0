// assay replay: reruns a stored sample with its exact case, scenario and seed.
#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/cli/command.hpp"
#include "suite/cli/json_output.hpp"
#include "suite/cli/live_progress.hpp"
#include "suite/cli/reading_database.hpp"
#include "suite/cli/replay_comparison.hpp"
#include "suite/experiment/error.hpp"
#include "suite/runner/input_hash.hpp"
#include "suite/runner/machine_lock.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {
namespace {

struct ReplayOptions {
    std::string id;
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

ExitCode verdict(const Comparison& comparison) {
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
    std::cerr << "replaying " << described(spec) << std::endl;
    LiveProgress progress(terminal_width());
    const store::Sample replayed =
        runner::run_once(spec, [&](const runner::Notice& notice) { progress.on(notice); });
    Comparison comparison = compare(*experiment, stored, replayed);
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
    command->add_option("--timeout", options->timeout_s, "Seconds after which it is killed")
        ->type_name("SECONDS");
    command->add_flag("--no-lock", options->no_lock, "Run beside another measured run");
    command->add_flag("--json", options->json, "Print JSON");
    add_database_option(*command, context);
    command->footer(
        "Exit code 0: they agree; 2: they do not; 3: the sample has no deterministic metric, or "
        "they do not and the files that it reads have other content now.\n"
        "Example:\n  assay replay 3f2a9c01");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_replay(context, *options); };
    });
}

}  // namespace assay::cli
