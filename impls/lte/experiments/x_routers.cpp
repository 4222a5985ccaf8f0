// Ours, not the paper's: why our recipe loses on a pretrained model, one suspect after the other.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment x_routers() {
    Declaration<XRouters> x_routers(
        {.id = "lte/x_routers",
         .title = "Routers that can move, one suspect after the other",
         .source = "arXiv 2402.06126v4, section 3.3 (ours)",
         .says =
             "LTE with our schedule as it was, against routers drawn at random, and with one "
             "change after the other: `rate`, routers that learn at 2.5e-3 (50 times the rate at "
             "which SmolLM2 is tuned); `gain`, routers that see their input before the norm's "
             "gain; `fast`, both, so that scores leave the threshold; and on top of that, each "
             "with those before, `_detached`, separability moves the routers alone; `_bias`, "
             "logits start 3 higher, so that training starts near the dense model; `_tuned`, a "
             "third of the tokens tunes the dense model first, as the paper does. `published` and "
             "`published_fast` train with the published loss (eta = 0.5) in place of our schedule "
             "and end at whatever sparsity they end at. All train on as many tokens after the "
             "model that they start from. The prediction under test: as it was, LTE equals the "
             "random router.",
         .metrics = declared<XRoutersFound>(),
         .profiles = training_profiles(
             {{"model", {"llama-tiny"}}, {"sparsity", {0.5}}, {"steps", {300}}}, 5, 4),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "perplexity",
                    .x = "sparsity",
                    .panels = {"model"},
                    .x_title = "sparsity asked for",
                    .y_title = "perplexity per token"}});
    ProfilePlan &toy = x_routers.rest.profiles[0], &small = x_routers.rest.profiles[1],
                &gpu = x_routers.rest.profiles[2];
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
    add_training(x_routers);
    // Of arms that end at other sparsities than they were asked for, neighbours bound or
    // interpolate.
    x_routers.part(sparsity_axis({0.4, 0.5, 0.6}));
    x_routers.part(
        steps_axis("training steps of both stages together, three fifths of them stage 1's", 400));
    x_routers.variants(&XRouters::arm);
    // What needs no routers is for scale, on the pretrained model alone.
    toy.variants.assign(x_routers.rest.variants.begin(), x_routers.rest.variants.begin() + 10);
    return x_routers.runs(train_router_arm);
}

}  // namespace assay::lte
