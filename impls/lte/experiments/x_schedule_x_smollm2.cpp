// Ours, not the paper's: a schedule that reaches its sparsity, and a pretrained model.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

// Which sparsity a schedule reaches.
Experiment x_schedule() {
    Declaration<Training> x_schedule(
        {.id = "lte/x_schedule",
         .title = "A schedule that reaches the sparsity asked for",
         .source = "arXiv 2402.06126v4, sections 3.3 and 3.4 (ours)",
         .says =
             "The separability loss has a barrier at the threshold: from a score of 1 the "
             "regularisers push down only where eta exceeds 8 lambda. With the published constants "
             "the sparsity is set mostly by the signs of the fresh routers. Our schedule anneals "
             "the guard of the singularity and lets separability push away from a moving centre, "
             "the quantile of all scores that belongs to the requested sparsity, which ends at the "
             "threshold.",
         .variants = {"lte"},
         .metrics = declared<TrainingFound>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}}, 3, 40),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "ffn_sparsity",
                    .x = "sparsity",
                    .panels = {"model", "corpus"},
                    .x_title = "sparsity asked for",
                    .y_title = "sparsity reached"}});
    add_training(x_schedule);
    x_schedule.part(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    add_recipe(x_schedule);
    return x_schedule.runs(compete);
}

// A real pretrained model made sparse.
Experiment x_smollm2() {
    Declaration<Training> x_smollm2(
        {.id = "lte/x_smollm2",
         .title = "SmolLM2-135M made sparse",
         .source = "arXiv 2402.06126v4, section 3 (ours)",
         .says =
             "SmolLM2-135M-Instruct, pretrained, on the King James Bible: LTE in bf16 (profile "
             "small: a shortened schedule, whose models x_product takes too; gpu: the full one), "
             "against the dense model tuned on as many tokens, and training-free rivals on top of "
             "that.",
         .metrics = declared<TrainingFound>(),
         .profiles = training_profiles({}, 1, 400),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "perplexity",
                    .x = "sparsity",
                    .panels = {"corpus"},
                    .x_title = "sparsity asked for",
                    .y_title = "perplexity per token"}});
    auto& profiles = x_smollm2.rest.profiles;
    profiles.erase(profiles.begin());  // nothing of this takes minutes
    ProfilePlan &small = profiles[0], &gpu = profiles[1];
    small.rounds = 2;  // the fewest that an interval takes
    small.axes = {{"corpus", {"bible-kjv"}}, {"sparsity", {0.5}}, {"steps", {60}}};
    small.seconds_per_sample = 150;
    gpu.axes = {{"corpus", {"bible-kjv"}}, {"steps", {}}};
    add_training(x_smollm2, {"smollm2"});
    x_smollm2.part(sparsity_axis({0.4, 0.5, 0.6}));
    x_smollm2.part(steps_axis(
        "training steps of both stages together; where it is named, three fifths of them stage 1's",
        2100));
    add_recipe(x_smollm2);
    x_smollm2.variants(&Training::competitor,
                       {Competitor::dense, Competitor::lte, Competitor::teal, Competitor::cats});
    return x_smollm2.runs(compete);
}

}  // namespace assay::lte
