// Fig. 3: the separability loss drives scores away from the threshold.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig3() {
    Experiment experiment = training_experiment(
        "fig3", "Expert scores with and without the separability loss", "section 3.3, Fig. 3");
    experiment.says =
        "Histogram of router scores on held-out text after stage 1, with lambda 0 and 0.5. Without "
        "the loss many scores lie near the threshold, where the step from soft to hard is largest.";
    experiment.axes.push_back(sparsity_axis({0.5}));
    experiment.axes.push_back({"lambda", "weight of the separability loss", {0.0, 0.5}, true});
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
    experiment.figure = {
        Figure::Kind::lines, "score_share", "bin", {"model", "lambda", "corpus"}, "score",
        "share of scores",   true};
    experiment.run = tensors::run_of(&TensorFunctions::histogram_of_scores);
    return experiment;
}

}  // namespace assay::lte
