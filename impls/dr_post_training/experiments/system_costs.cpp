// What the method costs on this machine: whole steps, scoring by itself, memory (specification,
// section 4.6).
#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/tensors/module.hpp"

namespace assay::dr_post_training {
namespace {

std::vector<Value> ways() { return {"pip", "gip", "direct", "compressed"}; }

Experiment system_experiment(const char* name, const char* title, const char* source) {
    Experiment experiment;
    experiment.id = std::string("dr_post_training/") + name;
    experiment.title = title;
    experiment.source = std::string("arXiv 2605.07063v1, ") + source;
    experiment.unsupported = [](const SampleSpec&) { return tensors::module_lacks(); };
    ProfilePlan toy;
    toy.profile = Profile::toy;
    toy.provenances = {Provenance::measured};
    toy.rounds = 5;
    toy.seconds_per_sample = 10;
    experiment.profiles = {toy};
    return experiment;
}

/// Of one linear map: scoring_cost and peak_memory.
void add_map_axes(Experiment& experiment) {
    for (const Value& way : ways()) experiment.variants.push_back(assay::to_string(way));
    experiment.axes = {{"out", "outputs of the map", {std::int64_t{512}}, true},
                       {"in", "inputs of the map", {std::int64_t{512}, std::int64_t{1536}}, true},
                       {"tokens", "of a row", {std::int64_t{64}, std::int64_t{256}}, true},
                       {"m", "target rows", {std::int64_t{1}, std::int64_t{4}}, true},
                       {"n", "general rows", {std::int64_t{8}}, true}};
    experiment.validate = [](const SampleSpec& spec) {
        for (const char* axis : {"out", "in", "tokens", "m", "n"})
            integer_axis(spec, axis, 1, 1 << 16);
    };
    experiment.run = tensors::run_of(&TensorFunctions::run_scoring);
}

}  // namespace

Experiment overhead() {
    Experiment experiment = system_experiment(
        "overhead", "Time of a training step that chooses rows, against a plain one",
        "the tables of overhead");
    experiment.says =
        "Steps of all arms and their phases take turns in one process, on random weights and "
        "tokens; "
        "the floor is a plain step, the target rows' share of its forward and activation passes, "
        "the "
        "scores, less the weight gradients that are saved. The paper times Llama-like models of "
        "0.36 to 14 billion parameters on A40 and H200.";
    for (const Value& way : ways()) experiment.variants.push_back(assay::to_string(way));
    experiment.axes = {
        {"model", "llama-1m: 1 M parameters; llama-9m: 9 M, 256 wide", {"llama-1m", "llama-9m"}},
        {"tokens", "of a row", {std::int64_t{64}}, true},
        {"n", "general rows; half are kept", {std::int64_t{8}, std::int64_t{2}}, true}};
    experiment.validate = [](const SampleSpec& spec) {
        integer_axis(spec, "tokens", 1, 4096);
        integer_axis(spec, "n", 2, 256);
    };
    const auto metric = [&](const char* name, const char* unit, const char* says, Direction better,
                            std::vector<std::string> labels = {}) {
        experiment.metrics.push_back({name, unit, says, better, false, std::move(labels)});
    };
    metric("step_ms", "ms", "median of a step", Direction::lower, {"arm"});
    metric("over_standard", "ratio", "to a plain step: median over rounds", Direction::lower,
           {"arm"});
    metric("phase_ms", "ms", "median of a part of a plain step, of the scores", Direction::none,
           {"phase"});
    metric("floor_over_standard", "ratio", "the least a step can take, from phases of the same run",
           Direction::none);
    metric("layer_over_floor", "ratio", "a step in which each map chooses, to that",
           Direction::lower);
    experiment.metrics.push_back({"step_peak_bytes",
                                  "B",
                                  "allocated at a time in a step, besides parameters and state",
                                  Direction::lower,
                                  true,
                                  {"arm"}});
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "over_standard",
                         .x = "arm",
                         .panels = {"model", "n"},
                         .x_title = "step",
                         .y_title = "times a plain step"};
    experiment.run = tensors::run_of(&TensorFunctions::run_overhead);
    return experiment;
}

Experiment scoring_cost() {
    Experiment experiment = system_experiment(
        "scoring_cost", "Time to score the rows of one linear map", "the table of scoring costs");
    add_map_axes(experiment);
    experiment.metrics = {
        {"score_ms", "ms", "median of one map's scores", Direction::lower, false, {}},
        {"over_products",
         "ratio",
         "to its matrix products alone, in turns: median over rounds",
         Direction::lower,
         false,
         {}},
        {"gflops",
         "GFLOP/s",
         "FLOPs of the closed form over that time",
         Direction::higher,
         false,
         {}}};
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "score_ms",
                         .x = "tokens",
                         .panels = {"in", "m"},
                         .x_title = "tokens of a row",
                         .y_title = "ms"};
    return experiment;
}

Experiment peak_memory() {
    Experiment experiment = system_experiment(
        "peak_memory", "Memory that scoring one linear map takes", "the table of peak memory");
    add_map_axes(experiment);
    experiment.profiles.front().rounds = 1;
    experiment.profiles.front().seconds_per_sample = 3;
    experiment.metrics = {
        {"peak_bytes", "B", "that libtorch allocates at a time", Direction::lower, true, {}},
        {"over_formula", "ratio", "to what the closed form says", Direction::none, true, {}}};
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "peak_bytes",
                         .x = "tokens",
                         .panels = {"in", "m"},
                         .x_title = "tokens of a row",
                         .y_title = "bytes"};
    return experiment;
}

}  // namespace assay::dr_post_training
