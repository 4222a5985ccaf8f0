// assay import: results from files of other machines, other databases, other benchmarks.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
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

struct ImportOptions {
    std::vector<std::string> files, better;
    bool json = false;
};

int run_import(const Context& context, const ImportOptions& options) {
    const auto better = stated_directions(options.better);
    // One that cannot be read begins no database.
    for (const std::string& file : options.files)
        if (::access(file.c_str(), R_OK) != 0)
            throw UserError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
    store::Store store = open_or_begin(context);
    nlohmann::json files = nlohmann::json::array();
    long samples = 0;
    std::set<std::string> directions;
    for (const std::string& file : options.files) {
        auto added = import_export::import_file(store, file, better);
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
        std::cout << claims_after_arrival();
    return exit_ok;
}

}  // namespace

void add_import_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ImportOptions>();
    CLI::App* command =
        program.add_subcommand("import", "Add results from files of any of these kinds");
    command->group("Results");
    command
        ->add_option("files", options->files,
                     "What `assay export --to` wrote, databases, Google Benchmark's JSON, CSV")
        ->required()
        ->type_name("FILE");
    command
        ->add_option("--better", options->better,
                     "Which way of a metric is better, GFLOPS=higher (repeatable; NAME=lower): "
                     "kept, so that comparisons, nights and histories know it")
        ->type_name("NAME=WAY")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_flag("--json", options->json, "Print JSON");
    add_database_option(*command, context);
    command->footer(
        "What is there already is skipped, so importing twice does no harm (and --better\n"
        "can come later). A file with an error\n"
        "adds nothing; those before it stay. A whole database brings its gate's nights and mutes "
        "too.\n"
        "Examples:\n  assay import other-machine.jsonl\n"
        "  assay import bench.json        # written with --benchmark_out=bench.json\n"
        "  assay import bench.json --better GFLOPS=higher");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_import(context, *options); };
    });
}

}  // namespace assay::cli
