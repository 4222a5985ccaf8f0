// Fig. 11: how much separability.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig11() {
    Experiment experiment =
        training_experiment("fig11", "Weight of the separability loss", "section 5.4, Fig. 11");
    experiment.says =
        "LTE with lambda 0, 0.5 and 1. The paper finds that 0.5 lowers perplexity everywhere "
        "against 0, and that 1 is no better.";
    experiment.axes.push_back(sparsity_axis({0.5, 0.75}));
    experiment.axes.push_back({"lambda", "weight of the separability loss", {0.0, 0.5, 1.0}, true});
    experiment.variants = {"lte"};
    experiment.metrics.push_back(
        {"soft_to_hard",
         "nats per token",
         "what the step from soft scores to the hard mask costs before stage 2",
         Direction::lower,
         true,
         {}});
    experiment.profiles = training_profiles({{"model", {"gpt-toy"}}}, 3, 20);
    experiment.figure = {
        Figure::Kind::lines,   "perplexity", "lambda", {"model", "sparsity", "corpus"}, "lambda",
        "perplexity per byte", false};
    experiment.run = tensors::run_of(&TensorFunctions::train_with_lambda);
    return experiment;
}

}  // namespace assay::lte
