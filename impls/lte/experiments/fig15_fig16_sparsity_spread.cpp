// Figs. 15 and 16: how sparsity is spread over the tokens of a batch and over layers.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/tensor_functions.hpp"

namespace assay::lte {

// Fig. 15: the union of what a batch activates.
Experiment fig15() {
    Experiment experiment =
        training_experiment("fig15", "Union sparsity against batch", "appendix, Fig. 15");
    experiment.says =
        "A batch must load every expert that any of its tokens activates. Tokens are drawn at "
        "random from the held-out text, as requests of different users would be.";
    experiment.axes.push_back(sparsity_axis({0.5, 0.75, 0.9}));
    add_recipe_axis(experiment);
    experiment.variants = {"lte"};
    experiment.metrics.push_back({"union_sparsity",
                                  "share",
                                  "of experts that no token of the batch activates",
                                  Direction::higher,
                                  true,
                                  {"batch"}});
    experiment.metrics.push_back({"union_over_independent",
                                  "ratio",
                                  "of experts that the batch activates over what it would activate "
                                  "if experts were independent and equally often active",
                                  Direction::lower,
                                  true,
                                  {"batch"}});
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "union_sparsity",
                         .x = "batch",
                         .panels = {"model", "sparsity", "corpus"},
                         .x_title = "batch",
                         .y_title = "sparsity of the union"};
    experiment.run = tensors::run_of(&TensorFunctions::measure_unions);
    fix_recipe(experiment);
    return experiment;
}

// Fig. 16: sparsity layer by layer.
Experiment fig16() {
    Experiment experiment =
        training_experiment("fig16", "Sparsity of each layer", "appendix, Fig. 16");
    experiment.says =
        "How the sparsity that LTE reaches is spread over the layers. The paper sees it rise with "
        "depth in RoBERTa-base and fall with depth in GPT2-Medium.";
    experiment.axes.push_back(sparsity_axis({0.5, 0.75}));
    add_recipe_axis(experiment);
    experiment.variants = {"lte"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy", "llama-toy"}}, {"sparsity", {0.5}}}, 3, 20);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "layer_sparsity",
                         .x = "layer",
                         .panels = {"model", "sparsity", "corpus"},
                         .x_title = "layer",
                         .y_title = "sparsity"};
    fix_recipe(experiment);
    return experiment;
}

}  // namespace assay::lte
