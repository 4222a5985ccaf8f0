// assay export: stored samples as CSV or JSON, one figure as SVG.
#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/cli/command.hpp"
#include "suite/cli/output_file.hpp"
#include "suite/cli/reading_database.hpp"
#include "suite/experiment/error.hpp"
#include "suite/report/report.hpp"

namespace assay::cli {
namespace {

struct ExportOptions {
    std::vector<std::string> patterns;
    std::string session;
    std::string svg;
    std::string file = "-";
    bool csv = false;
    bool json = false;
};

std::vector<store::Sample> chosen_samples(const Registry& registry, const store::Store& store,
                                          const ExportOptions& options) {
    const std::vector<std::string> all{"all"};
    std::vector<const Experiment*> experiments;
    for (const std::string& pattern : options.patterns.empty() ? all : options.patterns)
        for (const Experiment* experiment : registry.select(pattern))
            if (std::find(experiments.begin(), experiments.end(), experiment) == experiments.end())
                experiments.push_back(experiment);
    std::vector<store::Sample> samples;
    if (options.session.empty()) {
        for (const Experiment* experiment : experiments)
            for (store::Sample& sample : store.newest_samples(experiment->id))
                samples.push_back(std::move(sample));
        return samples;
    }
    for (store::Sample& sample : store.samples(store.resolve_session(options.session)))
        if (std::any_of(experiments.begin(), experiments.end(), [&](const Experiment* experiment) {
                return experiment->id == sample.spec.experiment;
            }))
            samples.push_back(std::move(sample));
    return samples;
}

/// Timelines are drawn from events, which lists of samples leave out.
std::string figure(const Registry& registry, const store::Store& store, const std::string& id) {
    const auto selected = registry.select(id);
    if (selected.size() != 1)
        throw UserError(
            fmt::format("--svg '{}': names {} experiments; give one", id, selected.size()));
    const Experiment& experiment = *selected.front();
    std::vector<store::Sample> samples = store.newest_samples(experiment.id);
    if (samples.empty())
        throw UserError(fmt::format("no samples of {} yet; `assay run {}` makes them",
                                    experiment.id, experiment.id));
    if (experiment.figure.kind == Figure::Kind::timeline)
        for (store::Sample& sample : samples) sample = store.sample(sample.id);
    const System* system = registry.system(experiment.system());
    std::vector<Claim> claims;
    if (system != nullptr)
        for (const Claim& claim : system->claims)
            if (claim.experiment == experiment.id) claims.push_back(claim);
    return report::svg_figure(experiment, samples, claims);
}

int run_export(const Context& context, const ExportOptions& options) {
    if (int(options.csv) + int(options.json) + int(!options.svg.empty()) != 1)
        throw UserError("export what? Give one of --csv, --json, --svg EXPERIMENT");
    const store::Store store = open_existing(context);
    if (!options.svg.empty()) {
        write_output(options.file, figure(context.registry, store, options.svg));
        return exit_ok;
    }
    const auto samples = chosen_samples(context.registry, store, options);
    write_output(options.file, options.csv ? report::csv(context.registry, samples)
                                           : report::samples_json(samples).dump(2) + "\n");
    return exit_ok;
}

}  // namespace

void add_export_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ExportOptions>();
    CLI::App* command = program.add_subcommand("export", "Samples as CSV or JSON, a figure as SVG");
    command->group("Results");
    command->add_option("experiments", options->patterns, "Ids or patterns (default: all)");
    command->add_flag("--csv", options->csv, "One row per metric value");
    command->add_flag("--json", options->json, "The samples as JSON");
    command->add_option("--svg", options->svg, "The figure of one experiment")
        ->type_name("EXPERIMENT");
    command
        ->add_option("--session", options->session,
                     "Every sample of one session (default: the newest ok ones of any)")
        ->type_name("ID");
    command->add_option("-o,--output", options->file, "File, or - for standard output")
        ->type_name("FILE")
        ->capture_default_str();
    add_database_option(*command, context);
    command->footer(
        "Examples:\n  assay export lazarus/fig8 --csv -o fig8.csv\n"
        "  assay export --svg lazarus/fig8 -o fig8.svg");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_export(context, *options); };
    });
}

}  // namespace assay::cli
