// Fig. 15: the union of what a batch activates.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig15() {
    Experiment experiment =
        training_experiment("fig15", "Union sparsity against batch", "appendix, Fig. 15");
    experiment.says =
        "A batch must load every expert that any of its tokens activates. Tokens are drawn at "
        "random from the held-out text, as requests of different users would be.";
    experiment.axes.push_back(sparsity_axis({0.5, 0.75, 0.9}));
    experiment.variants = {"lte"};
    experiment.metrics.push_back({"union_sparsity",
                                  "share",
                                  "of experts that no token of the batch activates",
                                  Direction::higher,
                                  true,
                                  {"batch"}});
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20);
    experiment.figure = {Figure::Kind::lines,
                         "union_sparsity",
                         "batch",
                         {"model", "sparsity", "corpus"},
                         "batch",
                         "sparsity of the union",
                         false};
    experiment.run = tensors::run_of(&TensorFunctions::measure_unions);
    return experiment;
}

}  // namespace assay::lte
