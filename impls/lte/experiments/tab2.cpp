// Table 2: against static pruning at equal overall sparsity.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment tab2() {
    Experiment experiment =
        training_experiment("tab2", "Against static pruning", "section 5.2, Table 2");
    experiment.says =
        "Wanda and magnitude pruning of the feed-forward matrices, unstructured, 2:4 and 4:8, "
        "without retraining, on the dense model tuned on as many tokens as LTE gets. The paper "
        "prunes all matrices of LLaMA-7B to 50 %; here only the feed-forward networks are pruned, "
        "for every competitor alike, and overall_sparsity counts all weights but the embeddings.";
    experiment.axes.push_back(sparsity_axis({0.5}));
    experiment.variants = {"lte",       "wanda",         "wanda_2_4",    "wanda_4_8",
                           "magnitude", "magnitude_2_4", "magnitude_4_8"};
    experiment.metrics.push_back({"overall_sparsity",
                                  "share",
                                  "of the weights of all layers left out",
                                  Direction::higher,
                                  true,
                                  {}});
    experiment.profiles = training_profiles({{"model", {"gpt-toy", "llama-toy"}}}, 3, 20);
    experiment.figure = {Figure::Kind::bars,
                         "perplexity",
                         "sparsity",
                         {"model", "corpus"},
                         "sparsity of the feed-forward networks",
                         "perplexity per byte",
                         false};
    experiment.run = tensors::run_of(&TensorFunctions::compete_overall);
    return experiment;
}

}  // namespace assay::lte
