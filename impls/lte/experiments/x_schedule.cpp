// Ours: which sparsity a schedule reaches.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

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
    experiment.variants = {"lte"};
    experiment.profiles = training_profiles({{"model", {"gpt-toy"}}}, 3, 40);
    experiment.figure = {Figure::Kind::lines,  "ffn_sparsity",     "sparsity", {"model", "corpus"},
                         "sparsity asked for", "sparsity reached", false};
    return experiment;
}

}  // namespace assay::lte
