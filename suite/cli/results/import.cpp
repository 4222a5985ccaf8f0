// assay import: results from files of other machines, other databases, other benchmarks.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/comparison.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/import_export/import.hpp"

namespace assay::cli {
namespace {

struct ImportCommand {
    std::vector<std::string> files, better, columns;
    std::string from, machine;
    bool json = false;
};

/// "value=mean": by our names of columns, the file's.
std::map<std::string, std::string> stated_columns(const std::vector<std::string>& typed) {
    std::map<std::string, std::string> columns;
    for (const std::string& word : typed) {
        const auto equals = word.find('=');
        if (equals == word.npos || equals == 0 || equals + 1 == word.size())
            throw UserError(fmt::format(
                "--column '{}': write NAME=COLUMN, as value=mean where the values stand in 'mean'",
                word));
        columns[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return columns;
}

int run_import(const Context& context, const ImportCommand& options) {
    const auto better = stated_directions(options.better);
    const import_export::ImportOptions rules{.better = better,
                                             .from = options.from,
                                             .machine = options.machine,
                                             .columns = stated_columns(options.columns),
                                             .registry = &context.registry};
    for (const std::string& file : options.files)
        if (::access(file.c_str(), R_OK) != 0)
            throw UserError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
    // A file that is refused begins no database.
    std::optional<store::Store> store;
    if (std::filesystem::exists(context.database_path())) store = open_or_begin(context);
    nlohmann::json files = nlohmann::json::array();
    long samples = 0;
    std::set<std::string> directions;
    for (const std::string& file : options.files) {
        import_export::ArrivedFile arrived(file, rules, store ? &*store : nullptr);
        if (!store) store = open_or_begin(context);
        auto added = arrived.add_to(*store);
        if (added.sessions + added.samples + added.skipped == 0)
            throw UserError(fmt::format("{}: there is no sample in it", file));
        samples += added.samples;
        directions.merge(added.directions);
        if (options.json)
            files.push_back({{"file", file},
                             {"sessions", added.sessions},
                             {"samples", added.samples},
                             {"skipped", added.skipped},
                             {"notes", added.notes}});
        else
            print_line(std::cout,
                       fmt::format("{}: added {} session{}, {} sample{}; {} {} there already", file,
                                   added.sessions, added.sessions == 1 ? "" : "s", added.samples,
                                   added.samples == 1 ? "" : "s", added.skipped,
                                   added.skipped == 1 ? "was" : "were"));
        for (const std::string& note : added.notes)
            print_line(options.json ? std::cerr : std::cout, fmt::format("{}: {}", file, note));
    }
    for (const auto& [metric, direction] : better)
        if (!directions.contains(metric))
            throw UserError(fmt::format(
                "--better {}={}: no file has a metric of that name; the files themselves were "
                "imported",
                metric, to_string(direction)));
    if (options.json)
        print_json(files);
    else if (samples > 0)
        std::cout << claims_after_arrival(context.registry, *store);
    return exit_ok;
}

}  // namespace

void add_import_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ImportCommand>();
    CLI::App* command =
        program.add_subcommand("import", "Add results from files of any of these kinds");
    command->group("Results");
    command
        ->add_option("files", options->files,
                     "What `assay export --to` wrote, databases, files of benchmark tools, CSV")
        ->required()
        ->type_name("FILE");
    command
        ->add_option("--better", options->better,
                     "Which way of a metric is better, GFLOPS=higher (repeatable; NAME=lower): "
                     "kept, so that comparisons, nights and histories know it")
        ->type_name("NAME=WAY")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option(
            "--from", options->from,
            "The format, where it is not recognised: google-benchmark, hyperfine, "
            "pytest-benchmark, criterion, nvbench, nccl-tests, llama-bench, vllm, reframe, "
            "csv")
        ->type_name("FORMAT");
    command
        ->add_option("--machine", options->machine,
                     "A name for the machine of these results; those of one name are compared")
        ->type_name("NAME");
    command
        ->add_option("--column", options->columns,
                     "Of CSV: the column that is ours, value=mean (repeatable)")
        ->type_name("NAME=COLUMN")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_flag("--json", options->json, "Print JSON");
    add_database_option(*command, context);
    command->footer(
        "Files of benchmark tools are recognised by their contents; a command for each is in\n"
        "results/other-tools.md. A folder of Criterion's or ReFrame's is one session. Results of\n"
        "several days are sessions by day. Columns of CSV: experiment, metric, value; also "
        "machine,\n"
        "commit, started, unit, better, session and more; others are axes.\n"
        "What is there already is skipped, so importing twice does no harm (and --better\n"
        "can come later). A file with an error\n"
        "adds nothing; those before it stay. A whole database brings its gate's nights and mutes "
        "too.\n"
        "Examples:\n  assay import other-machine.jsonl\n"
        "  assay import bench.json        # written with --benchmark_out=bench.json\n"
        "  assay import bench.json --better GFLOPS=higher\n"
        "  assay import night.csv --machine lab --column value=mean");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_import(context, *options); };
    });
}

}  // namespace assay::cli
