// Everything Foundry registers. A new figure is one function in experiments/ and its name here.
#include "impls/foundry/register.hpp"

#include "impls/foundry/commands/commands.hpp"
#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/method/loader/server.hpp"
#include "suite/base/datasets.hpp"

namespace assay::foundry {

System make_system(Claims claims) {
    System system;
    system.id = "foundry";
    system.title = "Foundry: CUDA graphs saved once, restored at each start";
    system.paper = "arXiv 2604.06664v1";
    system.experiments = {fig1(),   coldstart(),  fig11(),   storage(),
                          x_keys(), x_policies(), x_fleet(), x_recovery()};
    const std::size_t without_driver = system.experiments.size();
    for (Experiment& experiment : live_experiments())
        system.experiments.push_back(std::move(experiment));
    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "foundry.toml");
    system.highlight = {
        .says =
            "graphs saved by one process and restored by another: what differs, and what sees it",
        .parts = {{.experiment = "foundry/x_keys"},
                  {.experiment = "foundry/x_detect", .variants = {"all", "none"}, .rounds = 1}},
        .picture = "foundry/x_keys"};
    if (system.experiments.size() == without_driver) system.highlight.parts.pop_back();
    system.plan = make_plan_command();
    system.campaign = std::make_shared<drive::Campaign>(campaign_modes());
    system.fault_phases = fault_phases();
    return system;
}

}  // namespace assay::foundry
