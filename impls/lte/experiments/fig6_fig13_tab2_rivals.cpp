// Figs. 6 and 13 and Table 2: LTE against its rivals at equal training.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/tensor_functions.hpp"

namespace assay::lte {

// Fig. 6: quality against sparsity, all competitors.
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
    add_recipe_axis(experiment);
    experiment.variants = {"dense", "lte",  "moefication",  "deja_vu",
                           "teal",  "cats", "expert_oracle"};
    experiment.profiles = training_profiles({{"sparsity", {0.5, 0.75, 0.9}}}, 3, 20);
    fix_recipe(experiment);
    return experiment;
}

// Fig. 13: rivals that get the same training.
Experiment fig13() {
    Experiment experiment =
        training_experiment("fig13", "Rivals with equal training", "appendix, Fig. 13");
    experiment.says =
        "Sigma-MoE (sigmoid scores, top-k, trained with the model) and Deja Vu whose predictors "
        "are followed by fine-tuning, all on the same number of tokens.";
    experiment.axes.push_back(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    add_recipe_axis(experiment);
    experiment.variants = {"lte", "sigma_moe", "deja_vu_tuned"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 25);
    fix_recipe(experiment);
    return experiment;
}

// Table 2: against static pruning at equal overall sparsity.
Experiment tab2() {
    Experiment experiment =
        training_experiment("tab2", "Against static pruning", "section 5.2, Table 2");
    experiment.says =
        "Wanda and magnitude pruning of the feed-forward matrices, unstructured, 2:4 and 4:8, "
        "without retraining, on the dense model tuned on as many tokens as LTE gets. The paper "
        "prunes all matrices of LLaMA-7B to 50 %; here only the feed-forward networks are pruned, "
        "for every competitor alike, and overall_sparsity counts all weights but the embeddings.";
    experiment.axes.push_back(sparsity_axis({0.5}));
    add_recipe_axis(experiment);
    experiment.variants = {"lte",       "wanda",         "wanda_2_4",    "wanda_4_8",
                           "magnitude", "magnitude_2_4", "magnitude_4_8"};
    experiment.metrics.push_back({"overall_sparsity",
                                  "share",
                                  "of the weights of all layers left out",
                                  Direction::higher,
                                  true,
                                  {}});
    experiment.profiles = training_profiles({{"model", {"gpt-toy", "llama-toy"}}}, 3, 20);
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "perplexity",
                         .x = "sparsity",
                         .panels = {"model", "corpus"},
                         .x_title = "sparsity of the feed-forward networks",
                         .y_title = "perplexity per byte"};
    experiment.run = tensors::run_of(&TensorFunctions::compete_overall);
    fix_recipe(experiment);
    return experiment;
}

}  // namespace assay::lte
