// Fig. 9: how neurons are grouped into experts.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig9() {
    Experiment experiment =
        training_experiment("fig9", "Grouping of neurons", "section 5.4, Fig. 9");
    experiment.says =
        "LTE on experts made by balanced k-means over the rows of the first matrix, by "
        "co-activation, and at random. The paper finds the first two alike and better than random.";
    experiment.axes.push_back(sparsity_axis({0.5, 0.75, 0.9}));
    experiment.variants = {"kmeans", "coactivation", "random"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20);
    experiment.figure = {
        Figure::Kind::lines,  "perplexity",          "sparsity", {"model", "corpus"},
        "sparsity asked for", "perplexity per byte", false};
    experiment.run = tensors::run_of(&TensorFunctions::train_on_grouping);
    return experiment;
}

}  // namespace assay::lte
