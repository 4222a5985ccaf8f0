// assay sample (hidden): the process of one sample.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string_view>

#include "suite/cli/command.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

namespace {

constexpr const char* sample_command = "sample";

}  // namespace

bool runs_one_sample(int argc, char** argv) {
    return argc > 1 && std::string_view(argv[1]) == sample_command;
}

void add_sample_command(CLI::App& program, Context& context) {
    CLI::App* command =
        program.add_subcommand(sample_command, "One sample; started by assay itself");
    command->group("");
    command->callback([&context] {
        context.action = [&context] { return runner::sample_main(context.registry); };
    });
}

}  // namespace assay::cli
