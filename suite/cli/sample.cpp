// assay sample (hidden): the process of one sample.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "suite/cli/command.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

void add_sample_command(CLI::App& program, Context& context) {
    CLI::App* command = program.add_subcommand("sample", "One sample; started by assay itself");
    command->group("");
    command->callback([&context] {
        context.action = [&context] { return runner::sample_main(context.registry); };
    });
}

}  // namespace assay::cli
