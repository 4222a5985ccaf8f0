// Everything Lazarus registers. A new figure is one file in experiments/ and one line here.
#include "impls/lazarus/register.hpp"

#include "impls/lazarus/campaign_command.hpp"
#include "impls/lazarus/experiments/claim_checks.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/fig9.hpp"
#include "impls/lazarus/experiments/tab2.hpp"
#include "impls/lazarus/experiments/x_faults.hpp"
#include "impls/lazarus/experiments/x_live.hpp"
#include "impls/lazarus/plan_command.hpp"
#include "suite/experiment/datasets.hpp"

#ifdef ASSAY_LAZARUS_LIVE
#include "impls/lazarus/live_campaign.hpp"
#endif

namespace assay::lazarus {

System make_system(Claims claims) {
    System system;
    system.id = "lazarus";
    system.title = "Lazarus: resilient and elastic training of mixture-of-experts models";
    system.paper = "arXiv 2407.04656v2";

    system.experiments.push_back(fig4());
    system.experiments.push_back(fig5());
    system.experiments.push_back(fig8());
    system.experiments.push_back(tab2());
    system.experiments.push_back(fig9());
    system.experiments.push_back(fig10b());
    system.experiments.push_back(x_theorem1());
    system.experiments.push_back(x_guarded());
    system.experiments.push_back(x_planner());
    system.experiments.push_back(x_live());
    system.experiments.push_back(x_faults());

    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "lazarus.toml");
    system.custom_checks = claim_checks();
    system.highlight = {
        "a mixture of experts in training while workers are killed, frozen and asked to leave",
        {{"lazarus/x_live"},
         {"lazarus/fig4"},
         {"lazarus/fig5"},
         {"lazarus/fig8", {{"trace", {"synthetic"}}}},
         {"lazarus/fig10b"},
         {"lazarus/x_theorem1"}},
        "lazarus/x_live"};
    system.plan = make_plan_command();
#ifdef ASSAY_LAZARUS_LIVE
    system.campaign = make_campaign_command(run_live_campaign);
#else
    system.campaign = make_campaign_command();
#endif
    return system;
}

}  // namespace assay::lazarus
