// Everything Dr. Post-Training registers. A new figure is one function in experiments/ and its name
// here.
#include "impls/dr_post_training/register.hpp"

#include "impls/dr_post_training/commands/commands.hpp"
#include "impls/dr_post_training/experiments/experiments.hpp"
#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/policy/guard/guard.hpp"
#include "suite/base/datasets.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/drive/recording.hpp"

namespace assay::dr_post_training {

System make_system(Claims claims) {
    System system;
    system.id = "dr_post_training";
    system.title = "Dr. Post-Training: general data as a regulariser of the target's direction";
    system.paper = "arXiv 2605.07063v1";
    system.experiments = {crossovers(),    x_projection(), sft_perplexity(), sft_downstream(),
                          case_study(),    rlvr(),         rlhf(),           overhead(),
                          scoring_cost(),  peak_memory(),  x_sets(),         x_mix(),
                          x_scaling(),     x_faults(),     breakdown(),      overhead_h200(),
                          bias_exposure(), compression(),  x_choose()};
    system.event_kinds = {
        {"redo", "steps computed again", EventColour::recovery, EventLane::labelled},
        {"restore", "states restored", EventColour::recovery, EventLane::labelled},
        {"restart", "workers replaced", EventColour::recovery, EventLane::labelled},
        {"checkpoint_failed", "checkpoints not written", EventColour::detection,
         EventLane::labelled},
    };
    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "dr_post_training.toml");
    system.highlight = {
        .says = "from how many target rows and tokens on which way of scoring gradients is cheaper",
        .parts = {{"dr_post_training/crossovers"}},
        .picture = "dr_post_training/crossovers"};
    system.plan = make_plan_command();
    system.campaign = std::make_shared<drive::Campaign>(campaign_modes());
    system.replay_policy = [](std::istream& recording) {
        return drive::replay_policy<Guard, GuardSettings>(recording, recorded_guard);
    };
    return system;
}

}  // namespace assay::dr_post_training
