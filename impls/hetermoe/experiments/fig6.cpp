// Fig. 6: a forward pass of three layers, with and without experts on the attention GPU.
#include <optional>

#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/fig6_example.hpp"
#include "impls/hetermoe/policy/timeline.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::hetermoe {
namespace {

constexpr Nanoseconds second = 1'000'000'000;

void compute(const Fig6& fig6, const Fig6Found& found) {
    const Fig6Example example = fig6_example(fig6, second);
    const TaskTimes times = task_times(example.profile, {1, 1}, Fraction(1), example.micro_batches);
    std::vector<TaskRun> runs;
    for (const auto& [task, start, end] : zebra_timeline(times, example.step()))
        runs.push_back({.task = task,
                        .arrived_s = times.seconds(start),
                        .start_s = times.seconds(start),
                        .end_s = times.seconds(end),
                        .held_s = times.seconds(end) - times.seconds(start)});
    record_fig6(runs, found);
}

void emulate(const Fig6& fig6, const Fig6Found& found, Recorder& recorder) {
    const PacedPlan plan = fig6_plan(fig6);
    const PacedRun run = run_paced({&plan, 1}).front();
    const PacedStepRun& pass = run.steps.front();
    record_fig6(pass.runs, found);
    found.timeline_error(pass.length_s / makespan_s(planned_runs(plan.steps.front())) - 1);
    record_lateness(run, found);
    record_tasks(pass, recorder);
    require_punctual(plan, run);
}

bool is_emulated(const Fig6& fig6) { return fig6.provenance == Provenance::emulated; }

void run(const Fig6& fig6, Recorder& recorder) {
    const Fig6Found found(recorder);
    is_emulated(fig6) ? emulate(fig6, found, recorder) : compute(fig6, found);
    const Fig6Example example = fig6_example(fig6, second);
    for (std::size_t layer = 0; layer < example.offload.size(); ++layer)
        found.offload(example.offload[layer], {{"layer", static_cast<std::int64_t>(layer + 1)}});
}

std::vector<ProfilePlan> profiles() {
    std::vector<ProfilePlan> profiles = exact_profiles(0.02);
    ProfilePlan& toy = profiles.front();
    toy.provenances.push_back(Provenance::emulated);
    toy.seconds_of[Provenance::emulated] = 6;
    return profiles;
}

}  // namespace

Experiment fig6() {
    Declaration<Fig6> fig6(
        {.id = "hetermoe/fig6",
         .title = "Experts of three layers moved to the attention GPU",
         .source = "arXiv 2504.03871v1, section 4.2, Fig. 6",
         .says =
             "One attention and one expert GPU, three layers of six experts, three micro-batches, "
             "the forward pass alone, communication that takes no time; attention takes three "
             "quarters of an expert task. zebra moves no expert, hetermoe what Algorithm 1 says, "
             "all_layers one expert in each layer. The paper does not say how long an expert task "
             "takes on the attention GPU (axis expert_on_new): its 60 % less idle time comes out "
             "at 0.8 alone, where moving an expert in layer 1 too is faster still (8.55 against "
             "8.75); that this is no faster, as the paper says, comes out from 1.0 on, where 67 % "
             "less time is idle. No value gives both. Times are in expert tasks. Emulated: two "
             "processes, one for each kind of GPU, send each other the rows of a small model in "
             "the planned order, dispatch and combine each on a communicator of its own; every "
             "task computes and lasts as long as the profile says, an expert task a quarter of a "
             "second. What a transfer really takes is lateness, since here it takes no time; a "
             "pass of which lateness is more than half a percent is done again, five times at "
             "most.",
         .metrics = declared<Fig6Found>(),
         .profiles = profiles(),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "makespan",
                    .x = "expert_on_new",
                    .panels = {},
                    .x_title = "expert task on the attention GPU",
                    .y_title = "makespan in expert tasks"}});
    fig6.axis("expert_on_new", &Fig6::expert_on_new,
              "an expert task on the attention GPU, in those of the expert GPU", {0.8, 1.0},
              between(1e-6, 1e3));
    fig6.variants(&Fig6::moves);
    fig6.given(&Fig6::provenance, &SampleSpec::provenance);
    fig6.given(&Fig6::seed, &SampleSpec::seed);
    fig6.unsupported(
        [](const Fig6& fig6) { return is_emulated(fig6) ? run_paced.lacks() : std::nullopt; });
    fig6.calibration([](const Fig6& fig6) {
        return is_emulated(fig6)
                   ? nlohmann::json{{"expert_task_s", fig6_expert_task_s}, {"exchange_s", 0}}
                   : nlohmann::json();
    });
    return fig6.runs(run);
}

}  // namespace assay::hetermoe
