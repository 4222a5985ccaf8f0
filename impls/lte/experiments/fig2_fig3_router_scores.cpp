// Figs. 2 and 3: scores of routers, by top-k softmax and with LTE's separability loss.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/tensor_functions.hpp"

namespace assay::lte {

// Fig. 2: why the routers are no top-k softmax.
Experiment fig2() {
    Experiment experiment =
        training_experiment("fig2", "Noisy top-k softmax routing fails", "section 3.2, Fig. 2");
    experiment.says =
        "The paper routes RoBERTa-base on MRPC and QNLI with a noisy top-k softmax and sees "
        "accuracy drop at low sparsity already, since scores that sum to one let a single expert "
        "dominate. Here the same routing on byte-level language models, judged by perplexity.";
    experiment.axes.push_back(sparsity_axis({0.25, 0.5, 0.75}));
    add_recipe_axis(experiment);
    experiment.variants = {"dense", "lte", "topk_softmax"};
    experiment.metrics.push_back(
        {"top_score",
         "share",
         "topk_softmax: of a token's scores, what its strongest expert has, mean over the tokens "
         "of the last held-out batch and over layers",
         Direction::none,
         true,
         {}});
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.25, 0.5}}}, 3, 20);
    fix_recipe(experiment);
    return experiment;
}

// Fig. 3: the separability loss drives scores away from the threshold.
Experiment fig3() {
    Experiment experiment = training_experiment(
        "fig3", "Expert scores with and without the separability loss", "section 3.3, Fig. 3");
    experiment.says =
        "Histogram of router scores on held-out text after stage 1, with lambda 0 and 0.5. Without "
        "the loss many scores lie near the threshold, where the step from soft to hard is largest. "
        "There the threshold is put where the requested share of scores lies, which nothing else "
        "would reach.";
    experiment.axes.push_back(sparsity_axis({0.5}));
    experiment.axes.push_back({"lambda", "weight of the separability loss", {0.0, 0.5}, true});
    add_recipe_axis(experiment);
    experiment.variants = {"lte"};
    experiment.metrics.push_back({"score_share",
                                  "share",
                                  "of scores in each of 20 bins of [0, 1]",
                                  Direction::none,
                                  true,
                                  {"bin"}});
    experiment.metrics.push_back({"near_threshold",
                                  "share",
                                  "of scores within 0.1 of the threshold",
                                  Direction::lower,
                                  true,
                                  {}});
    experiment.profiles = training_profiles({{"model", {"gpt-toy"}}}, 3, 20);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "score_share",
                         .x = "bin",
                         .panels = {"model", "lambda", "corpus"},
                         .x_title = "score",
                         .y_title = "share of scores",
                         .log_y = true};
    experiment.run = tensors::run_of(&TensorFunctions::histogram_of_scores);
    fix_recipe(experiment);
    return experiment;
}

}  // namespace assay::lte
