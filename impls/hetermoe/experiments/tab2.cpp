// Table 2: the parameters of the paper's models.
#include "impls/hetermoe/cost/paper_setup.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

enum class Counted { without_embeddings, with_embeddings };
ASSAY_NAMES(Counted, without_embeddings, with_embeddings)

struct Tab2 {
    std::string model;
    Counted counted{};
};

void run(const Tab2& tab2, Recorder& recorder) {
    const ModelShape& model = model_shape(tab2.model);
    const double layers = model.layers, n = model.experts, expert = model.expert_parameters();
    const double embeddings =
        tab2.counted == Counted::with_embeddings ? model.embedding_parameters() : 0;
    const double all = layers * n * expert + model.dense_parameters() + embeddings;
    recorder.metric("parameters", all / 1e9);
    recorder.metric("expert_share", layers * n * expert / all);
    recorder.metric("active_share", (all - layers * (n - model.top_k) * expert) / all);
}

}  // namespace

Experiment tab2() {
    Declaration<Tab2> tab2(
        {.id = "hetermoe/tab2",
         .title = "Parameters of the paper's models",
         .source = "arXiv 2504.03871v1, section 6.1, Table 2",
         .says = "Table 2 gives layers, hidden size, experts and the number of parameters; the "
                 "width of the feed-forward networks, heads and vocabulary are not stated. Counted "
                 "here with Mixtral's shape: 3.5 times the hidden size, SwiGLU, a quarter as many "
                 "key and value heads. Without embeddings all five numbers round to the printed "
                 "ones; with an embedding and an output matrix of 32,000 words they do not.",
         .metrics = {{"parameters", "10^9", "of all layers and experts", Direction::none, true},
                     {"expert_share", "share", "of the parameters, experts'", Direction::none,
                      true},
                     {"active_share", "share", "of the parameters, those that a token uses (top 2)",
                      Direction::none, true}},
         .profiles = exact_profiles(0.02),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "parameters",
                    .x = "model",
                    .panels = {},
                    .x_title = "model",
                    .y_title = "parameters in 10^9"}});
    tab2.axis("model", &Tab2::model, "of Table 2", {"w1", "w2", "d1", "d2", "d3"});
    tab2.variants(&Tab2::counted);
    return tab2.runs(run);
}

}  // namespace assay::hetermoe
