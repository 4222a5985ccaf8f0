// Accuracy while a policy learns by reward, with and without the answers that oppose the target's
// direction (specification, sections 3.3 and 4.4).
#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/rewards/reward_settings.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/tensors/module.hpp"

namespace assay::dr_post_training {

Experiment rlvr() {
    Experiment experiment;
    experiment.id = "dr_post_training/rlvr";
    experiment.title = "Accuracy over rounds of GRPO on answers that are right or wrong";
    experiment.source = "arXiv 2605.07063v1, the figures of accuracy over rounds";
    experiment.says =
        "A small policy that answers three unseen questions in ten learns by reward: 8 questions "
        "a round, 8 answers "
        "each, four updates of 16 answers. full is GRPO as it is; global and layer drop the "
        "answers "
        "whose gradient opposes the policy gradient of the target's answers, all maps by one vote "
        "or each by its own. The paper trains Qwen3-1.7B on MATH. Start, questions and draws' "
        "seeds "
        "are the same in all arms; the target's answers are drawn besides, which drawn_tokens "
        "counts.";
    experiment.axes = {
        {"model",
         "llama-toy: 0.2 M parameters on bytes, started here; llama-tiny: to see that it works",
         {"llama-toy", "llama-tiny"},
         false},
        {"task", "what is asked", {"close", "reverse", "add"}, false},
        {"n_val", "prompts of the target there are", {std::int64_t{64}}, true},
        {"rounds", "of drawing and updating", {std::int64_t{40}}, true},
        {"rate",
         "learning rate; grid: of three, the one with the highest accuracy on validation questions",
         {"grid"},
         true}};
    experiment.variants = {"full", "layer", "global"};
    experiment.metrics = {
        {"accuracy",
         "share",
         "of 192 different held-out questions answered exactly, greedily, at the end",
         Direction::higher,
         true,
         {}},
        {"accuracy_best", "share", "the most of all evaluations", Direction::higher, true, {}},
        {"accuracy_early",
         "share",
         "after 15 % of the rounds, as round 12 of the paper's 80",
         Direction::higher,
         true,
         {}},
        {"accuracy_at_start", "share", "before any round", Direction::none, true, {}},
        {"accuracy_mean",
         "share",
         "mean of all evaluations: the start, the early one, every fourth round",
         Direction::higher,
         true,
         {}},
        {"rate",
         "",
         "learning rate that the validation questions chose",
         Direction::none,
         true,
         {}},
        {"undecided",
         "share",
         "of answers whose group has equal rewards, so that they teach nothing but the penalty",
         Direction::none,
         true,
         {}},
        {"kept",
         "share",
         "of the answers of an update that a group learns from, mean",
         Direction::none,
         true,
         {}},
        {"drawn_tokens", "count", "of answers, the target's included", Direction::none, true, {}},
        {"round_ms", "ms", "of one round: draws, updates", Direction::lower, false, {}}};
    ProfilePlan toy;
    toy.profile = Profile::toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"model", {"llama-toy"}}, {"task", {"close", "reverse", "add"}}};
    toy.rounds = 8;
    toy.seconds_per_sample = 10;
    toy.bytes_per_sample = 8e3;
    toy.timeout_s = 3600;
    experiment.profiles = {toy};
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "accuracy_early",
                         .x = "task",
                         .panels = {"model"},
                         .x_title = "task",
                         .y_title = "accuracy after 15 % of the rounds"};
    experiment.validate = [](const SampleSpec& spec) { reward_settings(spec); };
    experiment.unsupported = [](const SampleSpec&) { return tensors::module_lacks(); };
    experiment.run = tensors::run_of(&TensorFunctions::run_rlvr);
    return experiment;
}

}  // namespace assay::dr_post_training
