// What is measured on gradients of a toy model without training it by them: bias and exposure of
// partitions (specification, sections 1.2 and 6.1), scores between projections.
#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/recipes/settings.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/tensors/module.hpp"

namespace assay::dr_post_training {
namespace {

Experiment study(const char* name, const char* title, const char* source, double seconds) {
    Experiment experiment;
    experiment.id = std::string("dr_post_training/") + name;
    experiment.title = title;
    experiment.source = std::string("arXiv 2605.07063v1, ") + source;
    experiment.axes = {
        {"model",
         "llama-toy: 0.2 M, llama-1m: 1 M parameters, on bytes, trained here; "
         "llama-tiny: to see that it works",
         {"llama-toy", "llama-1m", "llama-tiny"},
         false},
        {"relevance", "share of the general pool that is of the target's task", {0.2}, true},
        {"noise", "share of the pool that answers the target's questions wrongly", {0.3}, true}};
    experiment.unsupported = [](const SampleSpec&) { return tensors::module_lacks(); };
    ProfilePlan toy;
    toy.profile = Profile::toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"model", {"llama-toy"}}};
    toy.rounds = 8;
    toy.seconds_per_sample = seconds;
    toy.timeout_s = 3600;
    experiment.profiles = {toy};
    return experiment;
}

}  // namespace

Experiment bias_exposure() {
    Experiment experiment =
        study("bias_exposure", "Bias of each partition, and its exposure to few target rows",
              "the table of bias and exposure, of which only the name is known", 6);
    experiment.says =
        "The update that a partition makes of 8 general rows when the target's direction is the "
        "mean of n_val rows, against the mean of 1024 other rows of the target: error is their "
        "distance as a share of the latter's length, means over 32 batches. Bias is the error of "
        "the update that knows the many rows; exposure the distance from that one to the one that "
        "knows few. A finer partition should have less bias and more exposure. On the model that "
        "fine-tunings start from, or after so many plain steps.";
    experiment.axes.push_back({"rule", "by which groups choose rows", {"topk", "greedy", "exact"}});
    experiment.axes.push_back(
        {"after", "steps of plain training before", {std::int64_t{0}, std::int64_t{100}}, true});
    experiment.variants = {"full", "global", "block", "sublayer", "layer", "target"};
    const auto metric = [&](const char* name, const char* says, Direction better,
                            std::vector<std::string> labels) {
        experiment.metrics.push_back({name, "ratio", says, better, true, std::move(labels)});
    };
    metric("error", "distance to the direction of many target rows, to its length",
           Direction::lower, {"n_val"});
    metric("exposure", "distance to the update that knows the many rows, to their length",
           Direction::lower, {"n_val"});
    metric("cosine", "between the update and the direction of many target rows", Direction::higher,
           {"n_val"});
    metric("bias", "error of the update that knows the many rows", Direction::lower, {});
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "error",
                         .x = "n_val",
                         .panels = {"relevance", "after"},
                         .x_title = "target rows",
                         .y_title = "distance to the target's direction, of its length"};
    ProfilePlan& toy = experiment.profiles.front();
    toy.axes["relevance"] = {0.05, 0.2, 0.5};
    toy.axes["rule"] = {};
    experiment.validate = [](const SampleSpec& spec) {
        sft_settings(spec);
        integer_axis(spec, "after", 0, 100'000);
    };
    experiment.run = tensors::run_of(&TensorFunctions::run_bias_exposure);
    return experiment;
}

Experiment compression() {
    Experiment experiment =
        study("compression", "Scores between random projections, against exact ones",
              "compressed scoring (its repository's settings: 64 x 64 numbers)", 20);
    experiment.says =
        "Rows' scores in every linear map of the model that fine-tunings start from, exact and "
        "between Gaussian projections of its inputs and outputs, on 12 batches of 8 general rows "
        "and one target row, two draws of projections: how alike both rank the rows, and how many "
        "of the 4 kept they have in common. Maps are 64 to 352 wide here, those of Llama-3.2-1B "
        "2048 to 8192.";
    experiment.axes.push_back({"m", "target rows of a step", {std::int64_t{1}}, true});
    experiment.variants = {"layer", "global"};
    experiment.metrics = {{"rank_correlation",
                           "",
                           "of exact and compressed scores, mean",
                           Direction::higher,
                           true,
                           {"numbers"}},
                          {"kept_alike",
                           "share",
                           "of the rows kept by exact scores that compressed ones keep",
                           Direction::higher,
                           true,
                           {"numbers"}}};
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "rank_correlation",
                         .x = "numbers",
                         .panels = {"model"},
                         .x_title = "numbers of a compressed gradient",
                         .y_title = "rank correlation with exact scores"};
    experiment.profiles.front().axes["model"] = {"llama-toy", "llama-1m"};
    experiment.validate = [](const SampleSpec& spec) { sft_settings(spec); };
    experiment.run = tensors::run_of(&TensorFunctions::run_compression);
    return experiment;
}

}  // namespace assay::dr_post_training
