// Figs. 15 and 16: how sparsity is spread over the tokens of a batch and over layers.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

// Fig. 15: the union of what a batch activates.
Experiment fig15() {
    Declaration<Fig15> fig15(
        {.id = "lte/fig15",
         .title = "Union sparsity against batch",
         .source = "arXiv 2402.06126v4, appendix, Fig. 15",
         .says =
             "A batch must load every expert that any of its tokens activates. Tokens are drawn at "
             "random from the held-out text, as requests of different users would be.",
         .variants = {"lte"},
         .metrics = declared<Fig15Found>(),
         .profiles = training_profiles({{"model", {"gpt-toy"}}, {"sparsity", {0.5, 0.75}}}, 3, 20),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "union_sparsity",
                    .x = "batch",
                    .panels = {"model", "sparsity", "corpus"},
                    .x_title = "batch",
                    .y_title = "sparsity of the union"}});
    add_training(fig15);
    fig15.part(sparsity_axis({0.5, 0.75, 0.9}));
    add_recipe(fig15);
    return fig15.runs(measure_unions);
}

// Fig. 16: sparsity layer by layer.
Experiment fig16() {
    Declaration<Training> fig16(
        {.id = "lte/fig16",
         .title = "Sparsity of each layer",
         .source = "arXiv 2402.06126v4, appendix, Fig. 16",
         .says =
             "How the sparsity that LTE reaches is spread over the layers. The paper sees it rise "
             "with depth in RoBERTa-base and fall with depth in GPT2-Medium.",
         .variants = {"lte"},
         .metrics = declared<TrainingFound>(),
         .profiles =
             training_profiles({{"model", {"gpt-toy", "llama-toy"}}, {"sparsity", {0.5}}}, 3, 20),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "layer_sparsity",
                    .x = "layer",
                    .panels = {"model", "sparsity", "corpus"},
                    .x_title = "layer",
                    .y_title = "sparsity"}});
    add_training(fig16);
    fig16.part(sparsity_axis({0.5, 0.75}));
    add_recipe(fig16);
    return fig16.runs(compete);
}

}  // namespace assay::lte
