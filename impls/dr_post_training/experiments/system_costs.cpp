// What the method costs on this machine: whole steps, scoring by itself, memory (specification,
// section 4.6).
#include "impls/dr_post_training/experiments/system_costs.hpp"

#include <algorithm>
#include <initializer_list>

#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/recipes/timed_models.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/tensors/module.hpp"

namespace assay::dr_post_training {
namespace {

std::vector<Value> whole(std::initializer_list<std::int64_t> values) {
    return {values.begin(), values.end()};
}

}  // namespace

std::vector<std::string> scoring_variants() { return {"pip", "gip", "direct", "compressed"}; }

Experiment system_experiment(const char* name, const char* title, const char* source) {
    Experiment experiment;
    experiment.id = std::string("dr_post_training/") + name;
    experiment.title = title;
    experiment.source = std::string("arXiv 2605.07063v1, ") + source;
    experiment.unsupported = [](const SampleSpec& spec) -> std::optional<std::string> {
        if (auto lacks = tensors::module_lacks()) return lacks;
        if (spec.profile != Profile::gpu) return std::nullopt;
        return tensor_functions().timing_on_gpu_lacks();
    };
    add_measured(experiment, Profile::toy, 8, 10, {});
    return experiment;
}

ProfilePlan& add_measured(Experiment& experiment, Profile profile, int rounds,
                          double seconds_per_sample,
                          std::map<std::string, std::vector<Value>> axes) {
    ProfilePlan plan;
    plan.profile = profile;
    plan.provenances = {Provenance::measured};
    plan.rounds = rounds;
    plan.seconds_per_sample = seconds_per_sample;
    plan.timeout_s = std::max(600.0, 10 * seconds_per_sample);
    plan.axes = std::move(axes);
    experiment.profiles.push_back(std::move(plan));
    return experiment.profiles.back();
}

void declare_steps(Experiment& experiment) {
    experiment.variants = scoring_variants();
    experiment.axes = {
        {"model",
         "llama-1m: 1 M parameters; llama-9m: 9 M, 256 wide; or the shape of a published model",
         {"llama-1m", "llama-9m"},
         true},
        {"tokens", "of a row", whole({64}), true},
        {"n", "general rows; half are kept", whole({8, 2}), true}};
    experiment.validate = [](const SampleSpec& spec) {
        timed_model(assay::to_string(spec.axes.at("model")));
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
    metric("percent_more", "percent", "than a plain step takes: median over rounds",
           Direction::lower, {"arm"});
    metric("phase_ms", "ms",
           "median of a part of a plain step, of the scores, of the chosen rows' gradients",
           Direction::none, {"phase"});
    metric("phase_share", "share", "of a plain step: a part of it, the scores", Direction::none,
           {"phase"});
    metric("floor_over_standard", "ratio", "the least a step can take, from phases of the same run",
           Direction::none);
    metric("layer_over_floor", "ratio", "a step in which each map chooses, to that",
           Direction::lower);
    metric("one_pass_over_two", "ratio", "one choice for all maps in one pass, to two passes",
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
    experiment.run = tensors::run_of(&TensorFunctions::run_steps);
}

namespace {

/// Of one linear map: scoring_cost and peak_memory.
void add_map_axes(Experiment& experiment) {
    experiment.variants = scoring_variants();
    experiment.axes = {{"out", "outputs of the map", whole({512}), true},
                       {"in", "inputs of the map", whole({512, 1536}), true},
                       {"tokens", "of a row", whole({64, 256}), true},
                       {"m", "target rows", whole({1, 4}), true},
                       {"n", "general rows", whole({8}), true}};
    experiment.validate = [](const SampleSpec& spec) {
        for (const char* axis : {"out", "in", "tokens", "m", "n"})
            integer_axis(spec, axis, 1, 1 << 16);
    };
    experiment.run = tensors::run_of(&TensorFunctions::run_scoring);
}

/// SmolLM2-135M's up; the widest maps of the paper's three models, bf16.
void add_larger_maps(Experiment& experiment, int rounds, double seconds) {
    add_measured(experiment, Profile::small, rounds, seconds,
                 {{"out", whole({1536})},
                  {"in", whole({576})},
                  {"tokens", whole({512})},
                  {"m", whole({1, 4})}});
    add_measured(experiment, Profile::gpu, rounds, seconds,
                 {{"out", whole({2560, 5632, 8192})},
                  {"in", whole({960, 2048, 3072})},
                  {"tokens", whole({512, 8192})},
                  {"m", whole({1})}});
}

}  // namespace

Experiment overhead() {
    Experiment experiment = system_experiment(
        "overhead", "Time of a training step that chooses rows, against a plain one",
        "the tables of overhead");
    experiment.says =
        "Steps of all arms and their phases take turns in one process, on random weights and "
        "tokens; the floor is a plain step, the target rows' share of its forward and activation "
        "passes, the scores, less the weight gradients that are saved. The paper times Llama-like "
        "models of 0.36 to 14 billion parameters on A40 and H200. On a GPU, products, weights, "
        "gradients and moments are bf16; attention (unfused there), norms and what runs between "
        "blocks are fp32 everywhere, unlike the paper's.";
    declare_steps(experiment);
    experiment.profiles.front().seconds_per_sample = 20;
    add_measured(experiment, Profile::small, 5, 300,
                 {{"model", {"smollm2-135m"}}, {"n", whole({8})}});
    add_measured(
        experiment, Profile::gpu, 3, 120,
        {{"model", {"smollm2-360m", "tinyllama-1.1b", "llama3.2-3b"}}, {"tokens", whole({512})}});
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
    experiment.profiles.front().seconds_per_sample = 4;
    add_larger_maps(experiment, 8, 10);
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
    add_larger_maps(experiment, 1, 5);
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
