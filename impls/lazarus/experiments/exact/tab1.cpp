// Table 1: the paper's models, and what follows from their shape.
#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/experiments/exact/recovery_metric.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/trainings/training_experiment.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::lazarus {
namespace {

constexpr double mib = 1024.0 * 1024.0;

void run(const SampleSpec& spec, Recorder& recorder) {
    const ModelledModel model = modelled_model(assay::to_string(spec.axes.at("model")));
    recorder.metric("layers", model.layers);
    recorder.metric("width", model.width);
    recorder.metric("experts", model.experts);
    recorder.metric("parameters", model.parameters());
    recorder.metric("expert_parameters", model.expert_parameters());
    recorder.metric("expert_state", ModelledModel::state_bytes * model.expert_parameters() / mib);
    recorder.metric("state", ModelledModel::state_bytes * model.parameters() / mib);
}

MetricSpec metric(const char* name, const char* unit, const char* says) {
    return {name, unit, says, Direction::none, true, {}, {}};
}

}  // namespace

Experiment tab1() {
    Experiment experiment;
    experiment.id = "lazarus/tab1";
    experiment.title = "The models: parameters and state";
    experiment.source = "arXiv 2407.04656v2, section 6.1, Table 1";
    experiment.says =
        "Sizes of the models that all cost estimates stand on, computed from their shape: GPT-2 "
        "with a mixture of experts in every layer, hidden width four times the feature dimension, "
        "GPT-2's vocabulary and 1024 positions. That every layer has experts is our reading: the "
        "table's sizes come out with it. State is 14 bytes per parameter: a 16-bit weight, and "
        "weight, mean and variance of Adam in 32 bits.";
    experiment.axes = {model_axis()};
    experiment.variants = {"shape"};
    experiment.metrics = {metric("layers", "count", "layers, each with experts"),
                          metric("width", "count", "feature dimension"),
                          metric("experts", "count", "experts of a layer"),
                          metric("parameters", "count", "of the model"),
                          metric("expert_parameters", "count", "of one expert"),
                          metric("expert_state", "MiB", "state of one replica of an expert"),
                          metric("state", "MiB", "state of one copy of the model")};
    experiment.profiles = exact_profiles(0.05);
    experiment.figure = {Figure::Kind::bars, "parameters", "model", {}, "model",
                         "parameters",       false};
    experiment.run = run;
    return experiment;
}

}  // namespace assay::lazarus
