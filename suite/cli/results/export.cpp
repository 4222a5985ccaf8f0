// assay export: stored samples as CSV or JSON, one figure as SVG, whole sessions as an archive.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/results_text.hpp"
#include "suite/cli/selection.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/compare/selector.hpp"
#include "suite/gate/row_patterns.hpp"
#include "suite/import_export/export.hpp"
#include "suite/report/figures/svg_writer.hpp"
#include "suite/report/page/html_page.hpp"
#include "suite/report/text/samples_output.hpp"

namespace assay::cli {
namespace {

struct ExportOptions {
    std::vector<std::string> patterns;
    std::string session;
    std::string svg;
    std::vector<std::string> axes, variants;
    std::string provenance;
    std::string file = "-";
    bool csv = false;
    bool json = false;
    std::string archive;
    std::string since;
    bool no_curves = false;
    bool redacted = false;
    std::vector<std::string> names;
};

/// Patterns as the database understands them: experiments of imported files are in no registry.
std::vector<std::string> stored_patterns(const Registry& registry, const ExportOptions& options) {
    std::vector<std::string> patterns;
    for (const std::string& pattern : options.patterns) {
        if (pattern == "all") return {};
        patterns.push_back(registry.system(pattern) != nullptr ? pattern + "/*" : pattern);
    }
    return patterns;
}

/// An SQLite file for .db and .sqlite, else JSON lines.
int write_archive(const Context& context, const ExportOptions& options) {
    import_export::ArchiveRequest request;
    const std::filesystem::path to = options.archive;
    if (to.extension() != ".db" && to.extension() != ".sqlite")
        request.format = import_export::ArchiveFormat::json_lines;
    {
        const store::Store store = open_existing(context);
        request.which.experiments = stored_patterns(context.registry, options);
        if (!options.since.empty())
            request.which.since = compare::select_sessions(store, "since:" + options.since,
                                                           std::chrono::system_clock::now())
                                      .sessions.front()
                                      .started;
        if (!options.session.empty())
            request.which.sessions = {store.resolve_session(options.session)};
    }
    request.curves = !options.no_curves;
    request.redacted = options.redacted;
    request.names = options.names;
    const auto written = import_export::write_archive(context.database_path(), request, to);
    print_line(std::cerr,
               fmt::format("{}: {}, {}", options.archive, counted(written.sessions, "session"),
                           counted(written.samples, "sample")));
    return exit_ok;
}

std::vector<store::Sample> chosen_samples(const Registry& registry, const store::Store& store,
                                          const ExportOptions& options) {
    const std::vector<std::string> patterns = stored_patterns(registry, options);
    const auto chosen = [&](const std::string& id) {
        return patterns.empty() ||
               std::any_of(patterns.begin(), patterns.end(),
                           [&](const auto& pattern) { return gate::pattern_matches(pattern, id); });
    };
    const std::vector<std::string> experiments = store.experiments();
    for (const std::string& pattern : patterns)  // what nobody knows is misspelt
        if (std::none_of(experiments.begin(), experiments.end(),
                         [&](const std::string& id) { return gate::pattern_matches(pattern, id); }))
            registry.select(pattern);
    std::vector<store::Sample> samples;
    if (options.session.empty()) {
        for (const std::string& id : experiments)
            if (chosen(id))
                for (store::Sample& sample : store.newest_samples(id))
                    samples.push_back(std::move(sample));
        return samples;
    }
    for (store::Sample& sample : store.samples(store.resolve_session(options.session)))
        if (chosen(sample.spec.experiment)) samples.push_back(std::move(sample));
    return samples;
}

/// How many of how many samples went to `file`; "" for all that there are.
std::string left_out_line(const store::Store& store, const ExportOptions& options,
                          const std::set<std::string>& experiments, std::size_t written) {
    long all = 0;
    for (const store::ExperimentCounts& counts : store.sample_counts())
        if (options.patterns.empty() || experiments.contains(counts.experiment))
            for (const auto& [status, count] : counts.samples) all += count;
    if (static_cast<std::size_t>(all) <= written) return {};
    return fmt::format(
        "{} of {} samples: {}; {} writes one session's, {} whole sessions", written, all,
        options.session.empty() ? "the newest of each case that ended well"
                                : "those of the session",
        suggested(fmt::format("export --session ID {}", options.csv ? "--csv" : "--json")),
        suggested("export --to FILE.jsonl"));
}

std::string figure(const Registry& registry, const store::Store& store,
                   const ExportOptions& options) {
    const std::string& id = options.svg;
    const auto selected = registry.select(id);
    if (selected.size() != 1)
        throw UserError(
            fmt::format("--svg '{}': names {} experiments; give one", id, selected.size()));
    report::Drawn drawn{.variants = options.variants};
    for (const std::string& axis : options.axes) {
        add_axis(axis, drawn.axes);
        if (const std::string name = axis.substr(0, axis.find('='));
            selected.front()->axis(name) == nullptr)
            throw UserError(fmt::format("-a {}: {} has no axis '{}'; {} says which", axis,
                                        selected.front()->id, name,
                                        suggested("describe " + selected.front()->id)));
    }
    if (!options.provenance.empty()) drawn.provenance = provenance_named(options.provenance);
    return report::to_svg(report::stored_plot(registry, store, *selected.front(), drawn));
}

int run_export(const Context& context, const ExportOptions& options) {
    const bool archive = !options.archive.empty();
    if (int(options.csv) + int(options.json) + int(!options.svg.empty()) + int(archive) != 1)
        throw UserError("export what? Give one of --csv, --json, --svg EXPERIMENT, --to FILE");
    const bool redacted = options.redacted || !options.names.empty();
    if (!archive && (redacted || options.no_curves || !options.since.empty()))
        throw UserError("--no-curves, --redact, --redact-name and --since go with --to FILE");
    if (options.svg.empty() &&
        !(options.axes.empty() && options.variants.empty() && options.provenance.empty()))
        throw UserError("-a, --variant and --mode go with --svg EXPERIMENT");
    if (!options.names.empty() && !options.redacted)
        throw UserError("--redact-name adds to --redact; give that too");
    if (archive) {
        if (is_standard_output(options.archive))
            throw UserError("--to writes a file: give its name");
        expect_ending("--to", options.archive, {".db", ".sqlite", ".jsonl", ".json", ".ndjson"});
        return write_archive(context, options);
    }
    expect_ending("-o", options.file, {options.csv ? ".csv" : options.json ? ".json" : ".svg"});
    const store::Store store = open_existing(context);
    if (!options.svg.empty()) {
        write_output(options.file, figure(context.registry, store, options));
        if (!is_standard_output(options.file))
            print_line(std::cerr, fmt::format("{}: the figure of {}", options.file, options.svg));
        return exit_ok;
    }
    const auto samples = chosen_samples(context.registry, store, options);
    std::set<std::string> experiments;
    for (const store::Sample& sample : samples) experiments.insert(sample.spec.experiment);
    std::vector<store::MetricUnit> units;
    for (const std::string& id : experiments)
        for (store::MetricUnit& unit : store.metric_units(id)) units.push_back(std::move(unit));
    write_output(options.file, options.csv ? report::csv(context.registry, samples, units)
                                           : report::samples_json(samples).dump(2) + "\n");
    if (samples.empty())
        throw UserError(fmt::format(
            "nothing to export: {} has no finished sample of {}", store.path().string(),
            options.patterns.empty() ? "anything"
                                     : fmt::format("{}", fmt::join(options.patterns, ", "))));
    if (const auto line = left_out_line(store, options, experiments, samples.size()); !line.empty())
        print_line(std::cerr, is_standard_output(options.file) ? line : options.file + ": " + line);
    return exit_ok;
}

}  // namespace

void add_export_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ExportOptions>();
    CLI::App* command =
        program.add_subcommand("export", "Samples as CSV or JSON, a figure as SVG, sessions");
    command->group("Results");
    command->add_option("experiments", options->patterns, "Ids or patterns (default: all)");
    command->add_flag("--csv", options->csv, "One row per metric value");
    command->add_flag("--json", options->json, "The samples as JSON");
    command->add_option("--svg", options->svg, "The figure of one experiment")
        ->type_name("EXPERIMENT");
    command->add_option("-a,--axis", options->axes, "With --svg: of these values only (repeatable)")
        ->type_name("AXIS=V1,V2")
        ->allow_extra_args(false);
    command->add_option("--variant", options->variants, "With --svg: of these (repeatable)")
        ->type_name("NAME")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("--mode", options->provenance, "With --svg: of this provenance")
        ->type_name("PROVENANCE");
    command
        ->add_option("--session", options->session,
                     "Every sample of one session (default: the newest ok ones of any)")
        ->type_name("ID");
    command->add_option("-o,--output", options->file, "File, or - for standard output")
        ->type_name("FILE")
        ->capture_default_str();
    command
        ->add_option(
            "--to", options->archive,
            "Whole sessions, nothing lost, for `assay import`: an SQLite file (.db, "
            ".sqlite) or JSON lines (.jsonl, or a name without an ending); with the gate's "
            "state when all")
        ->type_name("FILE");
    command
        ->add_option("--since", options->since,
                     "With --to: sessions from 2026-11-01 on, or of the last 12h, 7d, 2w")
        ->type_name("TIME");
    command->add_flag("--no-curves", options->no_curves,
                      "With --to: metrics and events alone, without curves, tables and attached "
                      "files, which are most of what trainings record");
    command->add_flag("--redact", options->redacted,
                      "With --to: no host names, no folders of this machine");
    command
        ->add_option("--redact-name", options->names,
                     "With --redact: this name too (of a node, of a user)")
        ->type_name("NAME")
        ->expected(1)
        ->take_all();
    add_database_option(*command, context);
    command->footer(
        "Examples:\n  assay export lazarus/fig8 --csv -o fig8.csv\n"
        "  assay export --svg lazarus/fig8 -a model=gpt-l -o fig8.svg\n"
        "  assay export --session 1a2b --redact --to results.jsonl");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_export(context, *options); };
    });
}

}  // namespace assay::cli
