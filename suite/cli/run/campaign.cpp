// assay campaign SYSTEM: seeded schedules of faults against a system's own protocol.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "suite/cli/command.hpp"

namespace assay::cli {

void add_campaign_command(CLI::App& program, Context& context) {
    CLI::App* command = program.add_subcommand(
        "campaign", "Run a system's protocol under many seeded schedules of faults");
    command->require_subcommand(1);
    std::string examples = "Examples:";
    for (const System& system : context.registry.systems()) {
        if (!system.campaign) continue;
        CLI::App* campaign = command->add_subcommand(system.id, system.title);
        system.campaign->options(*campaign);
        campaign->callback(
            [&system, &context] { context.action = [&system] { return system.campaign->run(); }; });
        examples += "\n  assay campaign " + system.id + " --seeds 1..300";
    }
    command->footer(examples);
    command->group("Run");  // last: its subcommands would inherit it
}

}  // namespace assay::cli
