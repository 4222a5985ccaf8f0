// What the method costs on this machine: whole steps, scoring by itself, memory (specification,
// section 4.6).
#include "impls/dr_post_training/experiments/system_costs.hpp"

#include <algorithm>
#include <utility>

#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/recipes/timed_models.hpp"

namespace assay::dr_post_training {

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

Experiment system_experiment(const char* name, const char* title, const char* source) {
    Experiment experiment{.id = std::string("dr_post_training/") + name,
                          .title = title,
                          .source = std::string("arXiv 2605.07063v1, ") + source};
    add_measured(experiment, Profile::toy, 8, 10, {});
    return experiment;
}

Experiment steps_experiment(const char* name, const char* title, const char* source) {
    Experiment experiment = system_experiment(name, title, source);
    experiment.metrics = declared<StepsFound>();
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "over_standard",
                         .x = "arm",
                         .panels = {"model", "n"},
                         .x_title = "step",
                         .y_title = "times a plain step"};
    return experiment;
}

std::optional<std::string> gpu_lacks(const Timed& timed) {
    if (timed.profile != Profile::gpu || timing_on_gpu_lacks.lacks()) return std::nullopt;
    return timing_on_gpu_lacks();
}

Axes<TimedSteps> model_axis(const char* says, const std::vector<std::string>& values) {
    Axes<TimedSteps> axes;
    axes.axis("model", &TimedSteps::model, says, values, or_others);
    axes.check([](const TimedSteps& steps) { timed_model(steps.model); });
    return axes;
}

Experiment with_steps(Experiment said) {
    Declaration<TimedSteps> steps(std::move(said));
    steps.part(model_axis(
        "llama-1m: 1 M parameters; llama-9m: 9 M, 256 wide; or the shape of a published model",
        {"llama-1m", "llama-9m"}));
    steps.axis("tokens", &TimedSteps::tokens, "of a row", between(1, 4096));
    steps.axis("n", &TimedSteps::n, "general rows; half are kept", {8, 2}, between(2, 256));
    add_timed(steps);
    return steps.runs(time_steps);
}

namespace {

/// Of one linear map: scoring_cost and peak_memory.
template <class Settings>
Experiment with_map(Experiment said, const tensors::Part<void(const Settings&, Recorder&)>& part) {
    Declaration<Settings> map(std::move(said));
    const auto some = between(1, 1 << 16);
    map.axis("out", &Settings::out, "outputs of the map", {512}, some);
    map.axis("in", &Settings::in, "inputs of the map", {512, 1536}, some);
    map.axis("tokens", &Settings::tokens, "of a row", {64, 256}, some);
    map.axis("m", &Settings::m, "target rows", {1, 4}, some);
    map.axis("n", &Settings::n, "general rows", {8}, some);
    add_timed(map);
    return map.runs(part);
}

/// SmolLM2-135M's up; the widest maps of the paper's three models, bf16.
void add_larger_maps(Experiment& experiment, int rounds, double seconds) {
    add_measured(experiment, Profile::small, rounds, seconds,
                 {{"out", {1536}}, {"in", {576}}, {"tokens", {512}}, {"m", {1, 4}}});
    add_measured(experiment, Profile::gpu, rounds, seconds,
                 {{"out", {2560, 5632, 8192}},
                  {"in", {960, 2048, 3072}},
                  {"tokens", {512, 8192}},
                  {"m", {1}}});
}

Figure over_tokens(const char* metric, const char* unit) {
    return {.kind = Figure::Kind::lines,
            .metric = metric,
            .x = "tokens",
            .panels = {"in", "m"},
            .x_title = "tokens of a row",
            .y_title = unit};
}

}  // namespace

Experiment overhead() {
    Experiment experiment = steps_experiment(
        "overhead", "Time of a training step that chooses rows, against a plain one",
        "the tables of overhead");
    experiment.says =
        "Steps of all arms and their phases take turns in one process, on random weights and "
        "tokens; the floor is a plain step, the target rows' share of its forward and activation "
        "passes, the scores, less the weight gradients that are saved. The paper times Llama-like "
        "models of 0.36 to 14 billion parameters on A40 and H200. On a GPU, products, weights, "
        "gradients and moments are bf16; attention (unfused there), norms and what runs between "
        "blocks are fp32 everywhere, unlike the paper's.";
    experiment.profiles.front().seconds_per_sample = 20;
    add_measured(experiment, Profile::small, 5, 300, {{"model", {"smollm2-135m"}}, {"n", {8}}});
    add_measured(experiment, Profile::gpu, 3, 120,
                 {{"model", {"smollm2-360m", "tinyllama-1.1b", "llama3.2-3b"}}, {"tokens", {512}}});
    return with_steps(std::move(experiment));
}

Experiment scoring_cost() {
    Experiment experiment = system_experiment(
        "scoring_cost", "Time to score the rows of one linear map", "the table of scoring costs");
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
    experiment.figure = over_tokens("score_ms", "ms");
    return with_map(std::move(experiment), time_scoring);
}

Experiment peak_memory() {
    Experiment experiment = system_experiment(
        "peak_memory", "Memory that scoring one linear map takes", "the table of peak memory");
    experiment.profiles.front().rounds = 1;
    experiment.profiles.front().seconds_per_sample = 3;
    add_larger_maps(experiment, 1, 5);
    experiment.metrics = {
        {"peak_bytes", "B", "that libtorch allocates at a time", Direction::lower, true, {}},
        {"over_formula", "ratio", "to what the closed form says", Direction::none, true, {}}};
    experiment.figure = over_tokens("peak_bytes", "bytes");
    return with_map(std::move(experiment), weigh_scoring);
}

}  // namespace assay::dr_post_training
