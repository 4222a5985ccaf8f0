// Fig. 12: do trained routers matter?
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig12() {
    Experiment experiment =
        training_experiment("fig12", "Trained against random routers", "section 5.4, Fig. 12");
    experiment.says =
        "Routers drawn at random choose the top experts, the model is tuned on as many tokens as "
        "both stages of LTE.";
    experiment.axes.push_back(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    experiment.variants = {"lte", "random_router"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20);
    experiment.figure = {
        Figure::Kind::lines,  "perplexity",          "sparsity", {"model", "corpus"},
        "sparsity asked for", "perplexity per byte", false};
    return experiment;
}

}  // namespace assay::lte
