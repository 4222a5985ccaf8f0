// Fig. 6: quality against sparsity, all competitors.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig6() {
    Experiment experiment =
        training_experiment("fig6", "Quality against sparsity", "section 5.2, Fig. 6");
    experiment.says =
        "The paper sparsifies GPT2-Medium and LLaMA-7B on XSum, E2E and WikiText-103. Here models "
        "of their shapes, trained on bytes of the King James Bible and of a dictionary; every "
        "method gets the same number of tokens. Deja Vu, TEAL and CATS are training-free and start "
        "from the dense model tuned on as many tokens; MoEfication swaps the activation for ReLU, "
        "is tuned, and chooses experts by an oracle, as in the paper. TEAL and CATS are newer than "
        "the paper; expert_oracle chooses the same experts as LTE has by what they would give, "
        "which "
        "no method can know beforehand.";
    experiment.axes.push_back(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    experiment.variants = {"dense", "lte",  "moefication",  "deja_vu",
                           "teal",  "cats", "expert_oracle"};
    experiment.profiles = training_profiles({{"sparsity", {0.5, 0.75, 0.9}}}, 3, 20);
    experiment.figure = {
        Figure::Kind::lines,  "perplexity",          "sparsity", {"model", "corpus"},
        "sparsity asked for", "perplexity per byte", false};
    return experiment;
}

}  // namespace assay::lte
