// Fig. 16: sparsity layer by layer.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig16() {
    Experiment experiment =
        training_experiment("fig16", "Sparsity of each layer", "appendix, Fig. 16");
    experiment.says =
        "How the sparsity that LTE reaches is spread over the layers. The paper sees it rise with "
        "depth in RoBERTa-base and fall with depth in GPT2-Medium.";
    experiment.axes.push_back(sparsity_axis({0.5, 0.75}));
    experiment.variants = {"lte"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy", "llama-toy"}}, {"sparsity", {0.5}}}, 3, 20);
    experiment.figure = {Figure::Kind::lines,
                         "layer_sparsity",
                         "layer",
                         {"model", "sparsity", "corpus"},
                         "layer",
                         "sparsity",
                         false};
    return experiment;
}

}  // namespace assay::lte
