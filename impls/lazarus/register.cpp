// Everything Lazarus registers. How to add a figure: impls/README.md.
#include "impls/lazarus/register.hpp"

#include "impls/lazarus/commands/commands.hpp"
#include "impls/lazarus/data/smartmoe_logs.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/recorded_decisions.hpp"
#include "suite/base/datasets.hpp"

namespace assay::lazarus {

System make_system(Claims claims) {
    System system;
    system.id = "lazarus";
    system.title = "Lazarus: resilient and elastic training of mixture-of-experts models";
    system.paper = "arXiv 2407.04656v2";

    system.experiments.push_back(tab1());
    system.experiments.push_back(fig2());
    system.experiments.push_back(fig4());
    system.experiments.push_back(fig5());
    system.experiments.push_back(fig6());
    system.experiments.push_back(fig7());
    system.experiments.push_back(fig8());
    system.experiments.push_back(tab2());
    system.experiments.push_back(fig9());
    system.experiments.push_back(fig10a());
    system.experiments.push_back(fig10b());
    system.experiments.push_back(fig11());
    system.experiments.push_back(fig12());
    system.experiments.push_back(fig13a());
    system.experiments.push_back(fig13b());
    system.experiments.push_back(fig14());
    system.experiments.push_back(x_theorem1());
    system.experiments.push_back(x_guarded());
    system.experiments.push_back(x_guarded_scale());
    system.experiments.push_back(x_correlated());
    system.experiments.push_back(x_planner());
    system.experiments.push_back(x_operations());
    system.experiments.push_back(x_live());
    system.experiments.push_back(x_faults());
    system.experiments.push_back(x_clocks());
    system.experiments.push_back(x_loss());

    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "lazarus.toml");
    system.custom_checks = claim_checks();
    system.data_converters = {{"smartmoe_logs", convert_smartmoe_logs}};
    system.data_formats = {{expert_loads, check_expert_loads}};
    system.event_kinds = {
        {"regroup", "regroups", EventColour::recovery, EventLane::pause},
        {"restart", "restarts", EventColour::state, EventLane::stop},
        {"transfer", "transfers", EventColour::transfer, EventLane::labelled},
    };
    system.fault_phases = fault_phases();
    system.highlight = {
        .says =
            "a mixture of experts in training while workers are killed, frozen and asked to leave",
        .parts = {{"lazarus/x_live"},
                  {"lazarus/fig4"},
                  {"lazarus/fig5"},
                  {"lazarus/fig8", {{"trace", {"synthetic"}}}},
                  {"lazarus/fig10b"},
                  {"lazarus/x_theorem1"}},
        .picture = "lazarus/x_live",
        .data = {"bible-kjv"}};
    system.plan = make_plan_command();
    system.costs = make_costs_command();
    system.replay_policy = replay_controller;
    system.campaign = std::make_shared<drive::Campaign>(campaign_modes());
    return system;
}

}  // namespace assay::lazarus
