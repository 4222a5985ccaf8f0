// Figs. 2 and 3: scores of routers, by top-k softmax and with LTE's separability loss.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

// Fig. 2: why the routers are no top-k softmax.
Experiment fig2() {
    Declaration<Training> fig2(
        {.id = "lte/fig2",
         .title = "Noisy top-k softmax routing fails",
         .source = "arXiv 2402.06126v4, section 3.2, Fig. 2",
         .says =
             "The paper routes RoBERTa-base on MRPC and QNLI with a noisy top-k softmax and sees "
             "accuracy drop at low sparsity already, since scores that sum to one let a single "
             "expert dominate. Here the same routing on byte-level language models, judged by "
             "perplexity.",
         .metrics = declared<Fig2Found>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.25, 0.5}}}, 3, 20),
         .figure = perplexity_figure()});
    add_training(fig2);
    fig2.part(sparsity_axis({0.25, 0.5, 0.75}));
    add_recipe(fig2);
    fig2.variants(&Training::competitor,
                  {Competitor::dense, Competitor::lte, Competitor::topk_softmax});
    return fig2.runs(compete);
}

// Fig. 3: the separability loss drives scores away from the threshold.
Experiment fig3() {
    Declaration<Fig3> fig3(
        {.id = "lte/fig3",
         .title = "Expert scores with and without the separability loss",
         .source = "arXiv 2402.06126v4, section 3.3, Fig. 3",
         .says =
             "Histogram of router scores on held-out text after stage 1, with lambda 0 and 0.5. "
             "Without the loss many scores lie near the threshold, where the step from soft to "
             "hard is largest. There the threshold is put where the requested share of scores "
             "lies, which nothing else would reach.",
         .variants = {"lte"},
         .metrics = declared<Fig3Found>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}}, 3, 20),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "score_share",
                    .x = "bin",
                    .panels = {"model", "lambda", "corpus"},
                    .x_title = "score",
                    .y_title = "share of scores",
                    .log_y = true}});
    add_training(fig3);
    fig3.part(sparsity_axis({0.5}));
    fig3.part(lambda_axis({0, 0.5}));
    add_recipe(fig3);
    return fig3.runs(histogram_of_scores);
}

}  // namespace assay::lte
