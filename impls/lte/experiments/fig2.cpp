// Fig. 2: why the routers are no top-k softmax.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig2() {
    Experiment experiment =
        training_experiment("fig2", "Noisy top-k softmax routing fails", "section 3.2, Fig. 2");
    experiment.says =
        "The paper routes RoBERTa-base on MRPC and QNLI with a noisy top-k softmax and sees "
        "accuracy drop at low sparsity already, since scores that sum to one let a single expert "
        "dominate. Here the same routing on byte-level language models, judged by perplexity.";
    experiment.axes.push_back(sparsity_axis({0.25, 0.5, 0.75}));
    experiment.variants = {"dense", "lte", "topk_softmax"};
    experiment.metrics.push_back(
        {"top_score",
         "share",
         "topk_softmax: of a token's scores, what its strongest expert has, mean over the tokens "
         "of the last held-out batch and over layers",
         Direction::none,
         true,
         {}});
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.25, 0.5}}}, 3, 20);
    experiment.figure = {
        Figure::Kind::lines,  "perplexity",          "sparsity", {"model", "corpus"},
        "sparsity asked for", "perplexity per byte", false};
    return experiment;
}

}  // namespace assay::lte
