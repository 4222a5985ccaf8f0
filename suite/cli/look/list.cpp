// assay list: which experiments there are, by system.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "suite/cli/command.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"

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

/// "toy, small (exact, emulated); paper (simulated); 16 claims"
std::string extent_text(const Registry& registry, const Experiment& experiment) {
    std::string text;
    for (std::size_t i = 0; i < experiment.profiles.size(); ++i) {
        const ProfilePlan& plan = experiment.profiles[i];
        text += to_string(plan.profile);
        const bool as_the_next = i + 1 < experiment.profiles.size() &&
                                 plan.provenances == experiment.profiles[i + 1].provenances;
        text += as_the_next
                    ? ", "
                    : fmt::format(" ({}); ", fmt::join(provenance_names(plan.provenances), ", "));
    }
    const long claims = claim_count(registry, experiment);
    return text + (claims == 0   ? "no claims"
                   : claims == 1 ? "1 claim"
                                 : fmt::format("{} claims", claims));
}

/// Two lines each, below their system.
void print_experiments(const Registry& registry, std::span<const Experiment* const> experiments) {
    std::size_t widest = 0;
    for (const Experiment* experiment : experiments)
        widest = std::max(widest, experiment->id.size());
    const std::size_t columns = prose_columns();
    const std::size_t beside = widest + 4 <= columns / 2 ? widest + 4 : 4;  // as hanging() has it
    for (const Experiment* experiment : experiments)
        std::cout << hanging(fmt::format("  {:{}}  ", experiment->id, widest), experiment->title,
                             columns)
                  << hanging(std::string(beside, ' '), extent_text(registry, *experiment), columns);
}

/// Systems that "all" leaves out; nothing where there are none.
void print_on_request(const Registry& registry) {
    std::size_t widest = 0;
    for (const System& system : registry.systems())
        if (system.on_request) widest = std::max(widest, system.id.size());
    if (widest == 0) return;
    std::cout << "\nOn request (assay list SYSTEM)\n";
    for (const System& system : registry.systems())
        if (system.on_request)
            std::cout << hanging(fmt::format("  {:{}}  ", system.id, widest), system.title,
                                 prose_columns());
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
    for (std::span<const Experiment* const> rest = experiments; !rest.empty();) {
        const std::string id = rest.front()->system();
        const auto others =
            std::find_if(rest.begin(), rest.end(),
                         [&](const Experiment* experiment) { return experiment->system() != id; });
        const auto of_system = rest.first(static_cast<std::size_t>(others - rest.begin()));
        if (rest.size() != experiments.size()) std::cout << '\n';
        const System* system = registry.system(id);
        std::cout << hanging("", system ? system->title : id, prose_columns());
        print_experiments(registry, of_system);
        rest = rest.subspan(of_system.size());
    }
    if (options.pattern == "all") print_on_request(registry);
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
