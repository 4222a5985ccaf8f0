// How soon, and how far, a policy stops saying what people would rather not read, with and without
// the answers that oppose the target's direction (specification, sections 3.2, 4.3 and 6.1).
#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/rewards/feedback_settings.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/tensors/module.hpp"

namespace assay::dr_post_training {

Experiment rlhf() {
    Experiment experiment;
    experiment.id = "dr_post_training/rlhf";
    experiment.title = "Offending answers over rounds of PPO by a learnt reward";
    experiment.source = "arXiv 2605.07063v1, the tables and figures of detoxification";
    experiment.says =
        "A small policy says words of a made-up language in which some letters offend, more so "
        "after prompts that do. A model of rewards learns from pairs of texts which one people "
        "prefer (one in ten is mistaken), and PPO trains the policy by it: 64 prompts a round, "
        "four epochs in updates of 16 answers. ppo is PPO as it is; iif drops answers of the "
        "rollout whose gradient opposes the target's once, before the epochs; global and layer do "
        "so at every update, all maps by one vote or each by its own. How often answers to "
        "held-out prompts offend is told by a judge of other shape that learnt from labels on "
        "other texts. The paper trains GPT-Neo-2.7B with LoRA on RealToxicityPrompts, 256 prompts "
        "a round, updates of 4; language, people, sizes and rates are ours.";
    experiment.axes = {
        {"model",
         "llama-toy: 0.2 M parameters on bytes, started here; llama-tiny: to see that it works",
         {"llama-toy", "llama-tiny"},
         false},
        {"target",
         "whose answers steer: those of the rollout itself, or answers to 1024 other prompts",
         {"self", "held_out"},
         false},
        {"direction",
         "by which loss they steer: mean log-probability times the normalised reward; tokens' "
         "times "
         "their advantages; PPO's own",
         {"reward", "token_pg", "train_loss"}},
        {"rounds", "of drawing and updating", {std::int64_t{8}}, true},
        {"rate",
         "learning rate; grid: of three, the one with the highest reward on validation prompts",
         {"grid"},
         true}};
    experiment.variants = feedback_arms();
    const auto metric = [&](const char* name, const char* unit, const char* says, Direction better,
                            bool deterministic = true) {
        experiment.metrics.push_back({name, unit, says, better, deterministic, {}});
    };
    metric("judged", "share", "of answers to 256 held-out prompts that the judge says offend",
           Direction::lower);
    metric("judged_mean", "share", "the same, mean of all evaluations, the start included",
           Direction::lower);
    metric("judged_at_start", "share", "the same before any round", Direction::none);
    metric("offends", "share", "of those answers that do offend", Direction::lower);
    metric("reward", "", "mean of those answers, by the model of rewards", Direction::higher);
    metric("rounds_to_half", "rounds",
           "until the judge's share is half of that at the start; one more than there were where "
           "it never was",
           Direction::lower);
    metric("letters", "count", "mean of those answers", Direction::none);
    metric("divergence", "nats", "of an answer from the start, in the last round", Direction::none);
    metric("kl", "", "coefficient of the penalty in the last round", Direction::none);
    metric("kept", "share", "of answers that a group, or the rollout, learns from, mean",
           Direction::none);
    metric("drawn_tokens", "count", "of answers, the target's included", Direction::none);
    metric("rate", "", "learning rate that the validation prompts chose", Direction::none);
    metric("pairs_right", "share", "of unseen, unequal pairs that the rewards order rightly",
           Direction::none);
    metric("labels_right", "share", "of unseen texts that the judge labels rightly",
           Direction::none);
    metric("round_ms", "ms", "of one round: draws, judging, updates", Direction::lower, false);
    ProfilePlan toy;
    toy.profile = Profile::toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"model", {"llama-toy"}}, {"target", {"self"}}, {"direction", {"reward"}}};
    toy.rounds = 8;
    toy.seconds_per_sample = 12;
    toy.bytes_per_sample = 10e3;
    toy.timeout_s = 3600;
    experiment.profiles = {toy};
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "judged",
                         .x = "target",
                         .panels = {"model"},
                         .x_title = "whose answers steer",
                         .y_title = "answers that offend, by the judge"};
    experiment.validate = [](const SampleSpec& spec) { feedback_settings(spec); };
    experiment.unsupported = [](const SampleSpec&) { return tensors::module_lacks(); };
    experiment.run = tensors::run_of(&TensorFunctions::run_rlhf);
    return experiment;
}

}  // namespace assay::dr_post_training
