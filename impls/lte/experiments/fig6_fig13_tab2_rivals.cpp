// Figs. 6 and 13 and Table 2: LTE against its rivals at equal training.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

// Fig. 6: quality against sparsity, all competitors.
Experiment fig6() {
    Declaration<Training> fig6(
        {.id = "lte/fig6",
         .title = "Quality against sparsity",
         .source = "arXiv 2402.06126v4, section 5.2, Fig. 6",
         .says =
             "The paper sparsifies GPT2-Medium and LLaMA-7B on XSum, E2E and WikiText-103. Here "
             "models of their shapes, trained on bytes of the King James Bible and of a "
             "dictionary; every method gets the same number of tokens. Deja Vu, TEAL and CATS are "
             "training-free and start from the dense model tuned on as many tokens; MoEfication "
             "swaps the activation for ReLU, is tuned, and chooses experts by an oracle, as in the "
             "paper. TEAL and CATS are newer than the paper; expert_oracle chooses the same "
             "experts as LTE has by what they would give, which no method can know beforehand.",
         .metrics = declared<TrainingFound>(),
         .profiles = training_profiles({{"sparsity", {0.5, 0.75, 0.9}}}, 3, 20),
         .figure = perplexity_figure()});
    add_training(fig6);
    fig6.part(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    add_recipe(fig6);
    fig6.variants(&Training::competitor,
                  {Competitor::dense, Competitor::lte, Competitor::moefication, Competitor::deja_vu,
                   Competitor::teal, Competitor::cats, Competitor::expert_oracle});
    return fig6.runs(compete);
}

// Fig. 13: rivals that get the same training.
Experiment fig13() {
    Declaration<Training> fig13(
        {.id = "lte/fig13",
         .title = "Rivals with equal training",
         .source = "arXiv 2402.06126v4, appendix, Fig. 13",
         .says = "Sigma-MoE (sigmoid scores, top-k, trained with the model) and Deja Vu whose "
                 "predictors are followed by fine-tuning, all on the same number of tokens.",
         .metrics = declared<TrainingFound>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 25),
         .figure = perplexity_figure()});
    add_training(fig13);
    fig13.part(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    add_recipe(fig13);
    fig13.variants(&Training::competitor,
                   {Competitor::lte, Competitor::sigma_moe, Competitor::deja_vu_tuned});
    return fig13.runs(compete);
}

// Table 2: against static pruning at equal overall sparsity.
Experiment tab2() {
    Declaration<Tab2> tab2(
        {.id = "lte/tab2",
         .title = "Against static pruning",
         .source = "arXiv 2402.06126v4, section 5.2, Table 2",
         .says =
             "Wanda and magnitude pruning of the feed-forward matrices, unstructured, 2:4 and 4:8, "
             "without retraining, on the dense model tuned on as many tokens as LTE gets. The "
             "paper prunes all matrices of LLaMA-7B to 50 %; here only the feed-forward networks "
             "are pruned, for every competitor alike, and overall_sparsity counts all weights but "
             "the embeddings.",
         .metrics = declared<Tab2Found>(),
         .profiles = training_profiles({{"model", {"gpt-toy", "llama-toy"}}}, 3, 20),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "perplexity",
                    .x = "sparsity",
                    .panels = {"model", "corpus"},
                    .x_title = "sparsity of the feed-forward networks",
                    .y_title = "perplexity per byte"}});
    add_training(tab2);
    tab2.part(sparsity_axis({0.5}));
    add_recipe(tab2);
    tab2.variants(&Training::competitor,
                  {Competitor::lte, Competitor::wanda, Competitor::wanda_2_4, Competitor::wanda_4_8,
                   Competitor::magnitude, Competitor::magnitude_2_4, Competitor::magnitude_4_8});
    return tab2.runs(compete_overall);
}

}  // namespace assay::lte
