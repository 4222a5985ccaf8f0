// How soon, and how far, a policy stops saying what people would rather not read, with and without
// the answers that oppose the target's direction (specification, sections 3.2, 4.3 and 6.1).
#include "impls/dr_post_training/experiments/training_experiments.hpp"

namespace assay::dr_post_training {
namespace {

ProfilePlan toy_of_feedback() {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"model", {"llama-toy"}}, {"target", {"self"}}, {"direction", {"reward"}}};
    toy.rounds = 8;
    toy.seconds_per_sample = 12;
    toy.bytes_per_sample = 10e3;
    toy.timeout_s = 3600;
    return toy;
}

}  // namespace

Experiment rlhf() {
    Declaration<Rlhf> rlhf(
        {.id = "dr_post_training/rlhf",
         .title = "Offending answers over rounds of PPO by a learnt reward",
         .source = "arXiv 2605.07063v1, the tables and figures of detoxification",
         .says =
             "A small policy says words of a made-up language in which some letters offend, more "
             "so after prompts that do. A model of rewards learns from pairs of texts which one "
             "people prefer (one in ten is mistaken), and PPO trains the policy by it: 64 prompts "
             "a round, four epochs in updates of 16 answers. ppo is PPO as it is; iif drops "
             "answers of the rollout whose gradient opposes the target's once, before the epochs; "
             "global and layer do so at every update, all maps by one vote or each by its own. "
             "How often answers to held-out prompts offend is told by a judge of other shape that "
             "learnt from labels on other texts. The paper trains GPT-Neo-2.7B with LoRA on "
             "RealToxicityPrompts, 256 prompts a round, updates of 4; language, people, sizes and "
             "rates are ours.",
         .metrics = declared<RlhfFound>(),
         .profiles = {toy_of_feedback()},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "judged",
                    .x = "target",
                    .panels = {"model"},
                    .x_title = "whose answers steer",
                    .y_title = "answers that offend, by the judge"}});
    rlhf.part(feedback_axes());
    rlhf.part(of_session());
    rlhf.variants(&Rlhf::arm, feedback_arms());
    return rlhf.runs(train_rlhf);
}

}  // namespace assay::dr_post_training
