// Table 1: the paper's models, and what follows from their shape.
#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::lazarus {
namespace {

constexpr double mib = 1024.0 * 1024.0;

struct Tab1 {
    std::string model;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric layers = exact("layers", "count", "layers, each with experts");
    Metric width = exact("width", "count", "feature dimension");
    Metric experts = exact("experts", "count", "experts of a layer");
    Metric parameters = exact("parameters", "count", "of the model");
    Metric expert_parameters = exact("expert_parameters", "count", "of one expert");
    Metric expert_state = exact("expert_state", "MiB", "state of one replica of an expert");
    Metric state = exact("state", "MiB", "state of one copy of the model");
};

void run(const Tab1& tab1, Recorder& recorder) {
    const ModelledModel model = modelled_model(tab1.model);
    const Found found(recorder);
    found.layers(model.layers);
    found.width(model.width);
    found.experts(model.experts);
    found.parameters(model.parameters());
    found.expert_parameters(model.expert_parameters());
    found.expert_state(ModelledModel::state_bytes * model.expert_parameters() / mib);
    found.state(ModelledModel::state_bytes * model.parameters() / mib);
}

}  // namespace

Experiment tab1() {
    Declaration<Tab1> tab1({.id = "lazarus/tab1",
                            .title = "The models: parameters and state",
                            .source = "arXiv 2407.04656v2, section 6.1, Table 1",
                            .says = "Sizes of the models that all cost estimates stand on, "
                                    "computed from their shape: GPT-2 "
                                    "with a mixture of experts in every layer, hidden width four "
                                    "times the feature dimension, "
                                    "GPT-2's vocabulary and 1024 positions. That every layer has "
                                    "experts is our reading: the "
                                    "table's sizes come out with it. State is 14 bytes per "
                                    "parameter: a 16-bit weight, and "
                                    "weight, mean and variance of Adam in 32 bits.",
                            .variants = {"shape"},
                            .metrics = declared<Found>(),
                            .profiles = exact_profiles(0.05),
                            .figure = {.kind = Figure::Kind::bars,
                                       .metric = "parameters",
                                       .x = "model",
                                       .x_title = "model",
                                       .y_title = "parameters"}});
    tab1.axis("model", &Tab1::model, "the modelled model (Table 1)", {"gpt-s", "gpt-m", "gpt-l"});
    return tab1.runs(run);
}

}  // namespace assay::lazarus
