// Ours, not the paper's: why our recipe loses on a pretrained model, one suspect after the other.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/tensor_functions.hpp"

namespace assay::lte {

Experiment x_routers() {
    Experiment experiment = training_experiment(
        "x_routers", "Routers that can move, one suspect after the other", "section 3.3 (ours)");
    experiment.says =
        "LTE with our schedule as it was, against routers drawn at random, and with one change "
        "after the other: `rate`, routers that learn at 2.5e-3 (50 times the rate at which SmolLM2 "
        "is tuned); `gain`, routers that see their input before the norm's gain; `fast`, both, so "
        "that scores leave the threshold; and on top of that, each with those before, `_detached`, "
        "separability moves the routers alone; `_bias`, logits start 3 higher, so that training "
        "starts near the dense model; `_tuned`, a third of the tokens tunes the dense model first, "
        "as the paper does. `published` and `published_fast` train with the published loss (eta = "
        "0.5) in place of our schedule and end at whatever sparsity they end at. All train on as "
        "many tokens after the model that they start from. The prediction under test: as it was, "
        "LTE equals the random router.";
    // Of arms that end at other sparsities than they were asked for, neighbours bound or
    // interpolate.
    experiment.axes.push_back(sparsity_axis({0.4, 0.5, 0.6}));
    experiment.axes.push_back(
        {"steps",
         "training steps of both stages together, three fifths of them stage 1's",
         {400},
         true});
    experiment.variants = {"as_is",
                           "random_router",
                           "rate",
                           "gain",
                           "fast",
                           "fast_detached",
                           "fast_detached_bias",
                           "fast_detached_bias_tuned",
                           "published",
                           "published_fast",
                           "dense",
                           "cats",
                           "teal"};
    experiment.metrics.push_back(
        {"score_share",
         "share",
         "of scores of held-out tokens in each of 20 bins of [0, 1], when: "
         "before or after stage 1",
         Direction::none,
         true,
         {"bin", "when"}});
    experiment.metrics.push_back({"near_threshold",
                                  "share",
                                  "of these scores within 0.1 of the threshold",
                                  Direction::lower,
                                  true,
                                  {"when"}});
    experiment.metrics.push_back({"soft_loss",
                                  "nats per token",
                                  "of held-out text, experts scaled by their scores",
                                  Direction::lower,
                                  true,
                                  {"when"}});
    experiment.metrics.push_back({"hard_loss",
                                  "nats per token",
                                  "of held-out text, hard mask, before stage 2",
                                  Direction::lower,
                                  true,
                                  {}});
    experiment.metrics.push_back(
        {"gradient_norm",
         "1",
         "before clipping, of a loss as it is weighed (task, separability) in the decoder (trunk) "
         "or the routers, at the first step of stage 1, its quarters and its last",
         Direction::none,
         true,
         {"loss", "part", "progress"}});
    experiment.profiles =
        training_profiles({{"model", {"llama-tiny"}}, {"sparsity", {0.5}}, {"steps", {300}}}, 5, 4);
    ProfilePlan &toy = experiment.profiles[0], &small = experiment.profiles[1],
                &gpu = experiment.profiles[2];
    // What needs no routers is for scale, on the pretrained model alone.
    toy.variants.assign(experiment.variants.begin(), experiment.variants.begin() + 10);
    // What three quarters of an hour are enough for; the changes on top of `fast` moved little on a
    // GPU.
    small.variants = {"as_is", "random_router", "rate", "fast"};
    small.axes = {
        {"model", {"smollm2"}}, {"corpus", {"bible-kjv"}}, {"sparsity", {0.5}}, {"steps", {40}}};
    small.rounds = 3;
    small.seconds_per_sample = 220;
    gpu.axes = {{"model", {"smollm2"}}, {"corpus", {"bible-kjv"}}};
    gpu.rounds = 5;
    gpu.seconds_per_sample = 60;  // assumed: nobody has timed it yet
    gpu.on_gpus = false;          // quality does not hang on clocks
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "perplexity",
                         .x = "sparsity",
                         .panels = {"model"},
                         .x_title = "sparsity asked for",
                         .y_title = "perplexity per token"};
    experiment.run = tensors::run_of(&TensorFunctions::train_router_arm);
    return experiment;
}

}  // namespace assay::lte
