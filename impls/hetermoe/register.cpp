// Everything HeterMoE registers. A new figure is one function in experiments/ and its name here.
#include "impls/hetermoe/register.hpp"

#include "impls/hetermoe/commands/commands.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/hetermoe/policy/controller/controller.hpp"
#include "suite/base/datasets.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/drive/recording.hpp"

namespace assay::hetermoe {

System make_system(Claims claims) {
    System system;
    system.id = "hetermoe";
    system.title = "HeterMoE: a mixture of experts trained on two generations of GPUs";
    system.paper = "arXiv 2504.03871v1";
    system.experiments = {tab1(),    tab2(),      fig2(),          fig5(),   fig6(),   fig7(),
                          fig8(),    fig9(),      fig10(),         fig11(),  fig12(),  tab3(),
                          x_order(), x_squeeze(), x_sensitivity(), x_live(), x_slow(), x_routing()};
    system.fault_phases = fault_phases();
    system.event_kinds = {
        {"regroup", "regroups", EventColour::recovery, EventLane::pause},
        {"pace", "paces", EventColour::detection, EventLane::labelled},
        {"move", "moves", EventColour::transfer, EventLane::labelled},
    };
    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "hetermoe.toml");
    system.highlight = {
        .says = "attention on new GPUs, experts on old ones: what moving a few experts back saves",
        .parts = {{"hetermoe/fig6"}, {"hetermoe/fig5"}},
        .picture = "hetermoe/fig6"};
    system.plan = make_plan_command();
    system.costs = make_profile_command();
    system.replay_policy = [](std::istream& recording) {
        return drive::replay_policy<Controller, ControllerSettings>(recording, recorded_policy);
    };
    system.campaign = std::make_shared<drive::Campaign>(campaign_modes());
    return system;
}

}  // namespace assay::hetermoe
