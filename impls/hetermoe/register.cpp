// Everything HeterMoE registers. A new figure is one function in experiments/ and its name here.
#include "impls/hetermoe/register.hpp"

#include "impls/hetermoe/commands/commands.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/live_support.hpp"
#include "suite/base/datasets.hpp"

namespace assay::hetermoe {

System make_system(Claims claims) {
    System system;
    system.id = "hetermoe";
    system.title = "HeterMoE: a mixture of experts trained on two generations of GPUs";
    system.paper = "arXiv 2504.03871v1";
    system.experiments = {tab1(),      tab2(),         fig5(), fig6(fig6_in_processes()),
                          fig7(),      fig8(),         fig9(), fig10(),
                          fig11(),     fig12(),        tab3(), x_order(),
                          x_squeeze(), x_sensitivity()};
    system.custom_checks = claim_checks();
    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "hetermoe.toml");
    system.highlight = {
        .says = "attention on new GPUs, experts on old ones: what moving a few experts back saves",
        .parts = {{"hetermoe/fig6"}, {"hetermoe/fig5"}},
        .picture = "hetermoe/fig6"};
    system.plan = make_plan_command();
    return system;
}

}  // namespace assay::hetermoe
