// Fig. 13: rivals that get the same training.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig13() {
    Experiment experiment =
        training_experiment("fig13", "Rivals with equal training", "appendix, Fig. 13");
    experiment.says =
        "Sigma-MoE (sigmoid scores, top-k, trained with the model) and Deja Vu whose predictors "
        "are followed by fine-tuning, all on the same number of tokens.";
    experiment.axes.push_back(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    experiment.variants = {"lte", "sigma_moe", "deja_vu_tuned"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 25);
    experiment.figure = {
        Figure::Kind::lines,  "perplexity",          "sparsity", {"model", "corpus"},
        "sparsity asked for", "perplexity per byte", false};
    return experiment;
}

}  // namespace assay::lte
