// Figs. 9 to 12: LTE without one of its parts, or with another in its place.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/tensor_functions.hpp"

namespace assay::lte {

// Fig. 9: how neurons are grouped into experts.
Experiment fig9() {
    Experiment experiment =
        training_experiment("fig9", "Grouping of neurons", "section 5.4, Fig. 9");
    experiment.says =
        "LTE on experts made by balanced k-means over the rows of the first matrix, by "
        "co-activation, and at random. The paper finds the first two alike and better than random.";
    experiment.axes.push_back(sparsity_axis({0.5, 0.75, 0.9}));
    add_recipe_axis(experiment);
    experiment.variants = {"kmeans", "coactivation", "random"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20);
    experiment.run = tensors::run_of(&TensorFunctions::train_on_grouping);
    fix_recipe(experiment);
    return experiment;
}

// Fig. 10: eta sets the sparsity.
Experiment fig10() {
    Experiment experiment =
        training_experiment("fig10", "Efficiency weight and sparsity", "section 5.4, Fig. 10");
    experiment.says =
        "The published loss, lambda = 0.5, at several weights eta of the efficiency loss. The "
        "paper shows sparsity rising with eta from about 0.2 to 0.9 over eta in 0 to 2; see "
        "x_schedule for what the loss itself allows.";
    experiment.axes.push_back(
        {"eta", "weight of the efficiency loss", {0.0, 0.5, 1.0, 2.0, 8.0}, true});
    experiment.variants = {"lte_published"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"eta", {0.0, 0.5, 2.0}}}, 3, 40);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "ffn_sparsity",
                         .x = "eta",
                         .panels = {"model", "corpus"},
                         .x_title = "eta",
                         .y_title = "sparsity"};
    return experiment;
}

// Fig. 11: how much separability.
Experiment fig11() {
    Experiment experiment =
        training_experiment("fig11", "Weight of the separability loss", "section 5.4, Fig. 11");
    experiment.says =
        "LTE with lambda 0, 0.5 and 1. The paper finds that 0.5 lowers perplexity everywhere "
        "against 0, and that 1 is no better. At 0 nothing moves scores apart: there the threshold "
        "is put where the requested share of scores lies.";
    experiment.axes.push_back(sparsity_axis({0.5, 0.75}));
    experiment.axes.push_back({"lambda", "weight of the separability loss", {0.0, 0.5, 1.0}, true});
    add_recipe_axis(experiment);
    experiment.variants = {"lte"};
    experiment.metrics.push_back(
        {"soft_to_hard",
         "nats per token",
         "what the step from soft scores to the hard mask costs before stage 2",
         Direction::lower,
         true,
         {}});
    experiment.profiles = training_profiles({{"model", {"gpt-toy"}}}, 3, 20);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "perplexity",
                         .x = "lambda",
                         .panels = {"model", "sparsity", "corpus"},
                         .x_title = "lambda",
                         .y_title = "perplexity per byte"};
    experiment.run = tensors::run_of(&TensorFunctions::train_with_lambda);
    fix_recipe(experiment);
    return experiment;
}

// Fig. 12: do trained routers matter?
Experiment fig12() {
    Experiment experiment =
        training_experiment("fig12", "Trained against random routers", "section 5.4, Fig. 12");
    experiment.says =
        "Routers drawn at random choose the top experts, the model is tuned on as many tokens as "
        "both stages of LTE.";
    experiment.axes.push_back(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    add_recipe_axis(experiment);
    experiment.variants = {"lte", "random_router"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20);
    fix_recipe(experiment);
    return experiment;
}

}  // namespace assay::lte
