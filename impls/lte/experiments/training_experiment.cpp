// What the declarations of the experiments that train models have in common.
#include <fmt/format.h>

#include <algorithm>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/recipes/materials.hpp"
#include "impls/lte/tensor_functions.hpp"
#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lte {

Axis sparsity_axis(std::vector<Value> values) {
    return {"sparsity",
            "share of the feed-forward neurons to leave out; ffn_sparsity is what came of it",
            std::move(values), true};
}

Axis model_axis(std::vector<Value> values) {
    return {"model",
            "gpt-*: GELU, GPT-2's shape; llama-*: SwiGLU; tiny: 0.1 M, toy: 1 M, 5m: "
            "5 M parameters, on bytes; smollm2: pretrained; a path: a model file of your own",
            std::move(values), true};
}

Axis corpus_axis() {
    return {"corpus",
            "text to train and test on, an id of `assay data` or a path",
            {"bible-kjv", "dict-gcide"},
            true};
}

void add_recipe_axis(Experiment& experiment) {
    experiment.axes.push_back(
        {"recipe",
         "how LTE's routers train: fast, at 2.5e-3 and before the norm's gain (what x_routers "
         "found); as_is, at the decoder's rate behind it, as older samples did",
         {"fast", "as_is"},
         false});
}

void fix_recipe(Experiment& experiment) {
    for (ProfilePlan& plan : experiment.profiles) plan.axes["recipe"] = {"fast"};
}

std::vector<ProfilePlan> training_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                           int toy_rounds, double toy_seconds_per_sample) {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = std::move(toy_axes);
    toy.axes.try_emplace("corpus", std::vector<Value>{"bible-kjv"});
    toy.rounds = toy_rounds;
    toy.seconds_per_sample = toy_seconds_per_sample;
    toy.bytes_per_sample = 60e3;
    toy.timeout_s = 3600;
    toy.side_by_side = true;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.side_by_side = false;  // its samples use all processors
    small.axes.clear();
    small.rounds = 3;
    small.seconds_per_sample = 5 * toy_seconds_per_sample;
    small.timeout_s = 6 * 3600;
    ProfilePlan gpu = small;
    gpu.profile = Profile::gpu;
    gpu.axes = {{"model", {"gpt-5m", "llama-5m", "smollm2"}}};
    gpu.seconds_per_sample = 600;  // assumed: nobody has timed it yet
    return {toy, small, gpu};
}

namespace {

/// A number on an axis that the experiment may or may not have.
void demand(const SampleSpec& spec, const std::string& axis, const char* wanted,
            bool (*holds)(double)) {
    if (!spec.axes.contains(axis)) return;
    const double number = number_axis(spec, axis);
    if (!holds(number)) throw UserError(fmt::format("{} {}: {}", axis, number, wanted));
}

/// A text that can never be had: better said before anything runs.
void demand_corpus(const SampleSpec& spec) {
    const std::string name = to_string(spec.axes.at("corpus"));
    if (names_a_file(name)) return;
    const auto known = data::catalog();
    if (std::any_of(known.begin(), known.end(),
                    [&](const data::Entry& entry) { return entry.id == name; }))
        return;
    throw UserError(fmt::format(
        "corpus {}: neither a text of `assay data list` nor a path (with a / or a .)", name));
}

void validate(const SampleSpec& spec) {
    demand_corpus(spec);
    sizes_of(to_string(spec.axes.at("model")), spec.profile);
    demand(spec, "sparsity", "a share from 0 to below 1", [](double s) { return s >= 0 && s < 1; });
    demand(spec, "eta", "a weight, 0 or more", [](double w) { return w >= 0 && w < 1e6; });
    demand(spec, "lambda", "a weight, 0 or more", [](double w) { return w >= 0 && w < 1e6; });
    if (spec.variant.ends_with("_2_4") || spec.variant.ends_with("_4_8"))
        demand(spec, "sparsity",
               "2:4 and 4:8 patterns remove half; leave these variants out or ask for 0.5",
               [](double s) { return s == 0.5; });
}

/// What recipes/measure.cpp records.
std::vector<MetricSpec> quality_metrics() {
    return {
        {"perplexity",
         "per token",
         "of held-out text; a token of the models trained here is a byte",
         Direction::lower,
         true,
         {}},
        {"bits_per_byte", "bit", "of held-out text", Direction::lower, true, {}},
        {"ffn_sparsity",
         "share",
         "of neurons (static pruning and TEAL: of weights) of the feed-forward networks left out, "
         "mean over tokens and layers; what selects them is not counted: LTE's router, Deja Vu's "
         "predictor, the gate that CATS reads whole",
         Direction::higher,
         true,
         {}},
        {"layer_sparsity", "share", "the same for each layer", Direction::none, true, {"layer"}},
        {"layer_range",
         "share",
         "sparsity of the layer with most less that of the layer with least",
         Direction::none,
         true,
         {}},
        {"token_spread",
         "share",
         "standard deviation over tokens of a layer's sparsity, mean over layers",
         Direction::none,
         true,
         {}}};
}

std::optional<std::string> unsupported(const SampleSpec& spec) {
    if (auto lacks = tensors::module_lacks()) return lacks;
    // Only libtorch knows whether it can use the GPU.
    if (spec.profile == Profile::gpu) return tensor_functions().workbench_lacks(spec);
    return materials_lack(spec);
}

}  // namespace

Experiment training_experiment(const std::string& name, const std::string& title,
                               const std::string& where) {
    Experiment experiment;
    experiment.id = "lte/" + name;
    experiment.title = title;
    experiment.source = "arXiv 2402.06126v4, " + where;
    experiment.axes = {model_axis({"gpt-toy", "llama-toy"}), corpus_axis()};
    experiment.metrics = quality_metrics();
    experiment.validate = validate;
    experiment.unsupported = unsupported;
    experiment.inputs = material_inputs;
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "perplexity",
                         .x = "sparsity",
                         .panels = {"model", "corpus"},
                         .x_title = "sparsity asked for",
                         .y_title = "perplexity per byte"};
    experiment.run = tensors::run_of(&TensorFunctions::compete);
    return experiment;
}

}  // namespace assay::lte
