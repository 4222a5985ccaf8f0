// assay plan SYSTEM: a system's policy applied to the user's own numbers; runs nothing. (assay plan
// trace: plan_trace.cpp)
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "suite/cli/command.hpp"
#include "suite/cli/terminal/terminal.hpp"

namespace assay::cli {

void add_plan_command(CLI::App& program, Context& context) {
    CLI::App* command = program.add_subcommand(
        "plan", "Apply a system's policy to your own numbers, or look at a trace; runs nothing");
    command->require_subcommand(1);
    std::string examples = "Examples:";
    for (const System& system : context.registry.systems()) {
        if (!system.plan) continue;
        CLI::App* plan = command->add_subcommand(system.id, system.title);
        system.plan->options(*plan);
        plan->callback([&system, &context] {
            context.action = [&system] {
                system.plan->columns = prose_columns();
                return system.plan->run();
            };
        });
        examples += "\n  assay plan " + system.id + " --help";
    }
    add_plan_trace_command(*command, context);
    examples += "\n  assay plan trace --help";
    command->footer(examples);
    command->group("Run");  // last: its subcommands would inherit it
}

}  // namespace assay::cli
