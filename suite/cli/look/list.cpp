// assay list: which experiments there are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/cli/command.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::cli {
namespace {

struct ListOptions {
    std::string pattern = "all";
    bool json = false;
};

long claim_count(const Registry& registry, const Experiment& experiment) {
    const System* system = registry.system(experiment.system());
    if (system == nullptr) return 0;
    return std::count_if(system->claims.begin(), system->claims.end(),
                         [&](const Claim& claim) { return claim.experiment == experiment.id; });
}

std::vector<std::string> provenance_names(const std::vector<Provenance>& provenances) {
    std::vector<std::string> result;
    for (const Provenance provenance : provenances) result.emplace_back(to_string(provenance));
    return result;
}

nlohmann::json row_json(const Registry& registry, const Experiment& experiment) {
    nlohmann::json profiles = nlohmann::json::object();
    for (const ProfilePlan& plan : experiment.profiles)
        profiles[std::string(to_string(plan.profile))] = provenance_names(plan.provenances);
    return {{"id", experiment.id},
            {"system", experiment.system()},
            {"title", experiment.title},
            {"profiles", profiles},
            {"claims", claim_count(registry, experiment)}};
}

/// Systems that "all" leaves out; nothing where there are none.
std::string on_request_text(const Registry& registry) {
    std::vector<std::vector<std::string>> rows{{"on request", "title"}};
    for (const System& system : registry.systems())
        if (system.on_request) rows.push_back({system.id, system.title});
    return rows.size() == 1 ? "" : "\n" + report::text_table(rows, text_columns());
}

int run_list(const Registry& registry, const ListOptions& options) {
    const auto experiments = registry.select(options.pattern);
    if (options.json) {
        nlohmann::json array = nlohmann::json::array();
        for (const Experiment* experiment : experiments)
            array.push_back(row_json(registry, *experiment));
        print_json(array);
        return exit_ok;
    }
    std::vector<std::vector<std::string>> rows{{"experiment", "title", "profiles", "claims"}};
    for (const Experiment* experiment : experiments) {
        std::vector<std::string> profiles;
        for (const ProfilePlan& plan : experiment->profiles)
            profiles.push_back(fmt::format("{} ({})", to_string(plan.profile),
                                           fmt::join(provenance_names(plan.provenances), ", ")));
        rows.push_back({experiment->id, experiment->title,
                        fmt::format("{}", fmt::join(profiles, ", ")),
                        std::to_string(claim_count(registry, *experiment))});
    }
    std::cout << report::text_table(rows, text_columns());
    if (options.pattern == "all") std::cout << on_request_text(registry);
    return exit_ok;
}

}  // namespace

void add_list_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ListOptions>();
    CLI::App* command = program.add_subcommand("list", "Which experiments there are");
    command->group("Look");
    command->add_option("pattern", options->pattern,
                        "Experiments: an id, a system, lazarus/fig*, all");
    command->add_flag("--json", options->json, "Print JSON");
    command->footer(
        "Examples:\n"
        "  assay list lazarus\n"
        "  assay list decode   # on request: the inference engine, by goals of our own\n"
        "  assay list assay    # on request: the suite's own control workload");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_list(context.registry, *options); };
    });
}

}  // namespace assay::cli
