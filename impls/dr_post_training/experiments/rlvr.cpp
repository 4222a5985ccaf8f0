// Accuracy while a policy learns by reward, with and without the answers that oppose the target's
// direction (specification, sections 3.3 and 4.4).
#include "impls/dr_post_training/experiments/training_experiments.hpp"

namespace assay::dr_post_training {
namespace {

ProfilePlan toy_of_rewards() {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"model", {"llama-toy"}}, {"task", {"close", "reverse", "add"}}};
    toy.rounds = 8;
    toy.seconds_per_sample = 10;
    toy.bytes_per_sample = 8e3;
    toy.timeout_s = 3600;
    return toy;
}

}  // namespace

Experiment rlvr() {
    Declaration<Rlvr> rlvr(
        {.id = "dr_post_training/rlvr",
         .title = "Accuracy over rounds of GRPO on answers that are right or wrong",
         .source = "arXiv 2605.07063v1, the figures of accuracy over rounds",
         .says =
             "A small policy that answers three unseen questions in ten learns by reward: 8 "
             "questions a round, 8 answers each, four updates of 16 answers. full is GRPO as it "
             "is; global and layer drop the answers whose gradient opposes the policy gradient of "
             "the target's answers, all maps by one vote or each by its own. The paper trains "
             "Qwen3-1.7B on MATH. Start, questions and draws' seeds are the same in all arms; the "
             "target's answers are drawn besides, which drawn_tokens counts.",
         .metrics = declared<RlvrFound>(),
         .profiles = {toy_of_rewards()},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "accuracy_early",
                    .x = "task",
                    .panels = {"model"},
                    .x_title = "task",
                    .y_title = "accuracy after 15 % of the rounds"}});
    rlvr.part(reward_axes());
    rlvr.part(of_session());
    rlvr.variants(&Rlvr::arm, {"full", "layer", "global"});
    return rlvr.runs(train_rlvr);
}

}  // namespace assay::dr_post_training
