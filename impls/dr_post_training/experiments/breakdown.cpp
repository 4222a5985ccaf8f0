// Where the time of a step goes (specification, section 4.6 c), and the paper's steps on an H200
// (d).
#include <string>
#include <utility>

#include "impls/dr_post_training/experiments/system_costs.hpp"
#include "impls/dr_post_training/experiments/training_experiments.hpp"

namespace assay::dr_post_training {
namespace {

struct StepsOfRows : TimedSteps {
    std::string rows;  ///< "8x512": 8 general rows of 512 tokens
};

void run(const StepsOfRows& of, Recorder& recorder) {
    TimedSteps steps = of;
    steps.n = std::stoll(of.rows);
    steps.tokens = std::stoll(of.rows.substr(of.rows.find('x') + 1));
    time_steps(steps, recorder);
}

}  // namespace

Experiment breakdown() {
    Experiment experiment = steps_experiment(
        "breakdown", "Parts of a training step, and what each way of choosing adds",
        "the breakdown of a step");
    experiment.says =
        "The parts of a plain step (forward pass, gradients of activations, of weights, what "
        "autograd adds, optimiser), the scores and the chosen rows' gradients, beside whole steps "
        "of each kind, in turns in one process; random weights and tokens. Gradients of "
        "activations and weights are the matrix products alone, on random numbers; autograd is the "
        "rest of the way back. The paper's is of Llama-3.2-1B on an A40.";
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "phase_share",
                         .x = "phase",
                         .panels = {"model"},
                         .x_title = "part of a step",
                         .y_title = "of a plain step"};
    ProfilePlan& toy = experiment.profiles.front();
    toy.axes = {{"model", {"llama-1m"}}, {"n", {8}}};
    toy.seconds_per_sample = 6;
    add_measured(experiment, Profile::small, 5, 300, {{"model", {"smollm2-135m"}}, {"n", {8}}});
    add_measured(experiment, Profile::gpu, 3, 120,
                 {{"model", {"llama3.2-1b"}}, {"tokens", {512}}, {"n", {8}}});
    return with_steps(std::move(experiment));
}

Experiment overhead_h200() {
    Experiment experiment = steps_experiment(
        "overhead_h200", "Steps of Qwen3-8B and Llama-3.2-1B that choose rows, on one GPU",
        "the table of overhead on an H200");
    experiment.says =
        "As overhead, on the shapes that the paper times on an H200: random weights and tokens, "
        "matrix products, weights, gradients and moments in bf16 (8.2 billion parameters with fp32 "
        "moments would leave no room for activations), attention, norms and what runs between "
        "blocks in fp32. Not here: steps with checkpoints of activations (Qwen3-14B), and "
        "adapters or compressed moments (Llama-3.2-1B by LoRA and MeSO).";
    experiment.profiles.clear();
    experiment.figure.panels = {"model", "rows"};
    add_measured(experiment, Profile::gpu, 3, 240, {{"model", {"qwen3-8b"}}}).timeout_s = 3600;
    Declaration<StepsOfRows> steps(std::move(experiment));
    steps.part(model_axis("the shape of a published model", {"qwen3-8b", "llama3.2-1b"}));
    steps.axis("rows", &StepsOfRows::rows, "general rows (half are kept) and the tokens of each",
               {"8x512", "16x512", "32x256", "2x2048"});
    add_timed(steps, {Scoring::compressed, Scoring::gip, Scoring::pip});
    steps.needs(time_steps);
    return steps.runs(run);
}

}  // namespace assay::dr_post_training
