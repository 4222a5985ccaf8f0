// assay TOOL SUBCOMMAND: commands that the systems bring along, such as `assay model show FILE`.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "suite/cli/command.hpp"

namespace assay::cli {

void add_tool_commands(CLI::App& program, Context& context) {
    for (const Tool& tool : context.registry.tools()) {
        CLI::App* command = program.add_subcommand(tool.id, tool.title);
        command->require_subcommand(1);
        std::string examples = "Examples:";
        for (const Tool::Subcommand& subcommand : tool.subcommands) {
            CLI::App* app = command->add_subcommand(subcommand.name, subcommand.title);
            subcommand.command->options(*app);
            app->callback([&subcommand, &context] {
                context.action = [&subcommand] { return subcommand.command->run(); };
            });
            examples += "\n  assay " + tool.id + " " + subcommand.name + " --help";
        }
        command->footer(examples);
        command->group("Run");  // last: its subcommands would inherit it
    }
}

}  // namespace assay::cli
