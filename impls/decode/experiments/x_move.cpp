// What it costs a request to go on in another engine.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/process_moves.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::decode {
namespace {

constexpr int requests = 16, new_tokens = 64;
constexpr double most_late = 0.05;  // of the time that a run takes

struct XMove {
    int length = 0;
    Departure departure{};
    Provenance provenance{};
    std::uint64_t seed = 0;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric lost_s =
        exact_unless({Provenance::emulated}, "lost_s", "s", "of all requests together", lower);
    Metric computed_again = exact_unless({Provenance::emulated}, "computed_again", "count",
                                         "tokens fed a second time", lower);
    Metric noticed_s = metric({.name = "noticed_s",
                               .unit = "s",
                               .says = "from the signal until the death is known; sigkill",
                               .better = lower,
                               .only = {Provenance::emulated}});
    Metric late_s = metric({.name = "late_s",
                            .unit = "s",
                            .says = "by which something was told of too late, at the worst; beyond "
                                    "5 % of a run's time the sample is invalid",
                            .better = lower,
                            .only = {Provenance::emulated}});
    Metric same_bits = exact("same_bits", "bool",
                             "ids and log-probabilities are those of requests that stay", higher);
};

void simulate(std::span<const BatchJob> jobs, int blocks, Departure departure, const Found& found) {
    BatchRunOptions options = on_modelled_gpu(blocks);
    const BatchRun stays = run_batch(jobs, options);
    options.move_at = stays.steps - new_tokens / 2;
    options.move_cache = departure == Departure::with_kv;
    const BatchRun moved = run_batch(jobs, options);
    double lost_s = moved.step_s - stays.step_s;
    const StepCost cost = modelled_gpu_cost();
    // The first engine makes no step any more that would count its own transfers.
    if (departure == Departure::with_kv) lost_s += moved.exported_blocks * cost.block_s;
    // It is known at once.
    if (departure == Departure::sigkill) lost_s += into_a_step_s();
    found.lost_s(lost_s);
    found.computed_again(moved.computed_tokens - stays.computed_tokens);
    found.same_bits(same_tokens(moved, stays));
}

void emulate(std::span<const BatchJob> jobs, int blocks, Departure departure, const Found& found) {
    const ProcessRun stays = run_in_processes(jobs, blocks, Departure::none);
    const ProcessRun moved = run_in_processes(jobs, blocks, departure);
    for (const ProcessRun* const run : {&stays, &moved})
        if (run->late_s > most_late * run->seconds)
            throw SampleError(
                SampleStatus::invalid,
                fmt::format("something was late by {:.1f} % of a run's time, more than {:.0f} %: "
                            "this machine is too slow, or too busy",
                            100 * run->late_s / run->seconds, 100 * most_late));
    found.lost_s(moved.seconds - stays.seconds);
    found.computed_again(moved.computed_again);
    if (moved.noticed_s) found.noticed_s(*moved.noticed_s);
    found.late_s(std::max(stays.late_s, moved.late_s));
    found.same_bits(same_tokens(moved.answers, stays.answers));
}

void run(const XMove& settings, Recorder& recorder) {
    const auto jobs = random_jobs(requests, settings.length, 0, new_tokens, settings.seed);
    const int blocks = blocks_for_all(jobs, modelled_context);
    (settings.provenance == Provenance::emulated ? emulate : simulate)(
        jobs, blocks, settings.departure, Found(recorder));
}

std::vector<ProfilePlan> profiles() {
    std::vector<ProfilePlan> plans = simulated_profiles(0.2);
    for (ProfilePlan& plan : plans) {
        plan.provenances.push_back(Provenance::emulated);
        const bool toy = plan.profile == Profile::toy;
        plan.seconds_of[Provenance::emulated] = toy ? 4 : 17;
        if (toy)
            plan.axes_of[Provenance::emulated] = {
                {"length", {std::int64_t{128}, std::int64_t{512}}}};
    }
    return plans;
}

}  // namespace

Experiment x_move() {
    Declaration<XMove> declaration(
        {.id = "decode/x_move",
         .title = "Requests that go on in another engine",
         .source = "our own; no paper's",
         .says =
             "16 requests; those that have not ended when the last of them has half of its 64 new "
             "tokens go on in another engine: with their tokens alone, whose keys and values the "
             "second "
             "engine computes, or with these "
             "too (with_kv, over 16 lanes of PCIe 4.0 to the host's memory and back); or the first "
             "engine is killed in the middle of a step (sigkill), and they go on from the tokens "
             "that "
             "were heard. Lost is the time beyond that of the same requests that stay. The second "
             "engine stands by with its weights loaded. LLaMA2-7B's shape on an A100 at its "
             "profile's "
             "peaks: in virtual time (simulated), or with engines that are processes whose steps "
             "end "
             "when the modelled ones would (emulated), where the kill is a SIGKILL.",
         .metrics = declared<Found>(),
         .profiles = profiles(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "lost_s",
                    .x = "length",
                    .x_title = "prompt tokens",
                    .y_title = "time lost (s)"}});
    declaration.axis("length", &XMove::length, "prompt tokens of each", {128, 512, 2048},
                     between(1, modelled_context - new_tokens));
    declaration.variants(&XMove::departure,
                         {Departure::tokens, Departure::with_kv, Departure::sigkill});
    declaration.given(&XMove::provenance, &SampleSpec::provenance);
    declaration.given(&XMove::seed, &SampleSpec::seed);
    declaration.calibration([](const XMove&) { return modelled_gpu_calibration(); });
    return declaration.runs(run);
}

}  // namespace assay::decode
