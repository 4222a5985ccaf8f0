// Figs. 9 to 12: LTE without one of its parts, or with another in its place.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

// Fig. 9: how neurons are grouped into experts.
Experiment fig9() {
    Declaration<Fig9> fig9(
        {.id = "lte/fig9",
         .title = "Grouping of neurons",
         .source = "arXiv 2402.06126v4, section 5.4, Fig. 9",
         .says =
             "LTE on experts made by balanced k-means over the rows of the first matrix, by "
             "co-activation, and at random. The paper finds the first two alike and better than "
             "random.",
         .metrics = declared<TrainingFound>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20),
         .figure = perplexity_figure()});
    add_training(fig9);
    fig9.part(sparsity_axis({0.5, 0.75, 0.9}));
    add_recipe(fig9);
    fig9.variants(&Fig9::grouping,
                  {GroupingKind::kmeans, GroupingKind::coactivation, GroupingKind::random});
    return fig9.runs(train_on_grouping);
}

// Fig. 10: eta sets the sparsity.
Experiment fig10() {
    Declaration<Fig10> fig10(
        {.id = "lte/fig10",
         .title = "Efficiency weight and sparsity",
         .source = "arXiv 2402.06126v4, section 5.4, Fig. 10",
         .says =
             "The published loss, lambda = 0.5, at several weights eta of the efficiency loss. The "
             "paper shows sparsity rising with eta from about 0.2 to 0.9 over eta in 0 to 2; see "
             "x_schedule for what the loss itself allows.",
         .variants = {"lte_published"},
         .metrics = declared<TrainingFound>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}, {"eta", {0.0, 0.5, 2.0}}}, 3, 40),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "ffn_sparsity",
                    .x = "eta",
                    .panels = {"model", "corpus"},
                    .x_title = "eta",
                    .y_title = "sparsity"}});
    add_training(fig10);
    fig10.axis("eta", &Fig10::eta, "weight of the efficiency loss", {0, 0.5, 1, 2, 8},
               between(0, 1e6));
    return fig10.runs(train_as_published);
}

// Fig. 11: how much separability.
Experiment fig11() {
    Declaration<Fig11> fig11(
        {.id = "lte/fig11",
         .title = "Weight of the separability loss",
         .source = "arXiv 2402.06126v4, section 5.4, Fig. 11",
         .says =
             "LTE with lambda 0, 0.5 and 1. The paper finds that 0.5 lowers perplexity everywhere "
             "against 0, and that 1 is no better. At 0 nothing moves scores apart: there the "
             "threshold is put where the requested share of scores lies.",
         .variants = {"lte"},
         .metrics = declared<Fig11Found>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}}, 3, 20),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "perplexity",
                    .x = "lambda",
                    .panels = {"model", "sparsity", "corpus"},
                    .x_title = "lambda",
                    .y_title = "perplexity per byte"}});
    add_training(fig11);
    fig11.part(sparsity_axis({0.5, 0.75}));
    fig11.part(lambda_axis({0, 0.5, 1}));
    add_recipe(fig11);
    return fig11.runs(train_with_lambda);
}

// Fig. 12: do trained routers matter?
Experiment fig12() {
    Declaration<Training> fig12(
        {.id = "lte/fig12",
         .title = "Trained against random routers",
         .source = "arXiv 2402.06126v4, section 5.4, Fig. 12",
         .says =
             "Routers drawn at random choose the top experts, the model is tuned on as many tokens "
             "as both stages of LTE.",
         .metrics = declared<TrainingFound>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20),
         .figure = perplexity_figure()});
    add_training(fig12);
    fig12.part(sparsity_axis({0.25, 0.5, 0.75, 0.9}));
    add_recipe(fig12);
    fig12.variants(&Training::competitor, {Competitor::lte, Competitor::random_router});
    return fig12.runs(compete);
}

}  // namespace assay::lte
