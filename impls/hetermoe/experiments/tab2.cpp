// Table 2: the parameters of the paper's models.
#include "impls/hetermoe/cost/paper_setup.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

void run(const SampleSpec& spec, Recorder& recorder) {
    const ModelShape& model = model_shape(assay::to_string(spec.axes.at("model")));
    const double layers = model.layers, n = model.experts, expert = model.expert_parameters();
    const double embeddings = spec.variant == "with_embeddings" ? model.embedding_parameters() : 0;
    const double all = layers * n * expert + model.dense_parameters() + embeddings;
    recorder.metric("parameters", all / 1e9);
    recorder.metric("expert_share", layers * n * expert / all);
    recorder.metric("active_share", (all - layers * (n - model.top_k) * expert) / all);
}

}  // namespace

Experiment tab2() {
    Experiment experiment;
    experiment.id = "hetermoe/tab2";
    experiment.title = "Parameters of the paper's models";
    experiment.source = "arXiv 2504.03871v1, section 6.1, Table 2";
    experiment.says =
        "Table 2 gives layers, hidden size, experts and the number of parameters; the width of "
        "the feed-forward networks, heads and vocabulary are not stated. Counted here with "
        "Mixtral's shape: 3.5 times the hidden size, SwiGLU, a quarter as many key and value "
        "heads. Without embeddings all five numbers round to the printed ones; with an embedding "
        "and an output matrix of 32,000 words they do not.";
    experiment.axes = {{"model", "of Table 2", {"w1", "w2", "d1", "d2", "d3"}, false}};
    experiment.variants = {"without_embeddings", "with_embeddings"};
    experiment.metrics = {
        {"parameters", "10^9", "of all layers and experts", Direction::none, true},
        {"expert_share", "share", "of the parameters, experts'", Direction::none, true},
        {"active_share", "share", "of the parameters, those that a token uses (top 2)",
         Direction::none, true}};
    experiment.profiles = exact_profiles(0.02);
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "parameters",
                         .x = "model",
                         .panels = {},
                         .x_title = "model",
                         .y_title = "parameters in 10^9"};
    experiment.run = run;
    return experiment;
}

}  // namespace assay::hetermoe
