// Ours, not the paper's: a schedule that reaches its sparsity, and a pretrained model.
#include "impls/lte/experiments/experiments.hpp"

namespace assay::lte {

// Which sparsity a schedule reaches.
Experiment x_schedule() {
    Experiment experiment =
        training_experiment("x_schedule", "A schedule that reaches the sparsity asked for",
                            "sections 3.3 and 3.4 (ours)");
    experiment.says =
        "The separability loss has a barrier at the threshold: from a score of 1 the regularisers "
        "push down only where eta exceeds 8 lambda. With the published constants the sparsity is "
        "set mostly by the signs of the fresh routers. Our schedule anneals the guard of the "
        "singularity and lets separability push away from a moving centre, the quantile of all "
        "scores that belongs to the requested sparsity, which ends at the threshold.";
    experiment.axes.push_back(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    add_recipe_axis(experiment);
    experiment.variants = {"lte"};
    experiment.profiles = training_profiles({{"model", {"gpt-toy"}}}, 3, 40);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "ffn_sparsity",
                         .x = "sparsity",
                         .panels = {"model", "corpus"},
                         .x_title = "sparsity asked for",
                         .y_title = "sparsity reached"};
    fix_recipe(experiment);
    return experiment;
}

// A real pretrained model made sparse.
Experiment x_smollm2() {
    Experiment experiment =
        training_experiment("x_smollm2", "SmolLM2-135M made sparse", "section 3 (ours)");
    experiment.says =
        "SmolLM2-135M-Instruct, pretrained, on the King James Bible: LTE in bf16 (profile small: a "
        "shortened schedule, whose models x_product takes too; gpu: the full one), against the "
        "dense model tuned on as many tokens, and training-free rivals on top of that.";
    experiment.axes[0].values = {"smollm2"};
    experiment.axes.push_back(sparsity_axis({0.4, 0.5, 0.6}));
    experiment.axes.push_back({"steps",
                               "training steps of both stages together; where it is named, three "
                               "fifths of them stage 1's",
                               {2100},
                               true});
    add_recipe_axis(experiment);
    experiment.variants = {"dense", "lte", "teal", "cats"};
    experiment.profiles = training_profiles({}, 1, 400);
    experiment.profiles.erase(experiment.profiles.begin());  // nothing of this takes minutes
    ProfilePlan &small = experiment.profiles[0], &gpu = experiment.profiles[1];
    small.rounds = 2;  // the fewest that an interval takes
    small.axes = {{"corpus", {"bible-kjv"}}, {"sparsity", {0.5}}, {"steps", {60}}};
    small.seconds_per_sample = 150;
    gpu.axes = {{"corpus", {"bible-kjv"}}, {"steps", {}}};
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "perplexity",
                         .x = "sparsity",
                         .panels = {"corpus"},
                         .x_title = "sparsity asked for",
                         .y_title = "perplexity per token"};
    fix_recipe(experiment);
    return experiment;
}

}  // namespace assay::lte
