// What too few blocks cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

struct Sizes {
    int requests, prompt, tokens;
};
Sizes sizes_of(const SampleSpec& spec) {
    if (spec.provenance == Provenance::measured) return {16, 64, 192};
    return {32, 256, 512};
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const Sizes sizes = sizes_of(spec);
    const auto jobs = random_jobs(sizes.requests, sizes.prompt, 0, sizes.tokens, spec.seed);
    const SampleRuns runs = sample_runs(spec);
    const int all = blocks_for_all(jobs, runs.context);
    const BatchRun roomy = run_batch(jobs, runs.options(all));
    BatchRunOptions options =
        runs.options(static_cast<int>(std::lround(number_axis(spec, "blocks") * all)));
    options.engine.swap = spec.variant == "swap";
    const BatchRun result = run_batch(jobs, options);
    recorder.metric("tokens_per_s", tokens_made(result) / runs.seconds(result));
    recorder.metric("slowdown", runs.seconds(result) / runs.seconds(roomy));
    recorder.metric("preemptions", static_cast<double>(result.preemptions));
    recorder.metric("computed_tokens", static_cast<double>(result.computed_tokens));
    recorder.metric("same_bits", same_tokens(result, roomy) ? 1 : 0);
}

}  // namespace

Experiment x_pressure() {
    Experiment experiment;
    experiment.id = "decode/x_pressure";
    experiment.title = "Fewer blocks than all requests need";
    experiment.source = "our own; no paper's";
    experiment.says =
        "32 requests at once, prompts of 256 tokens, 512 new ones each, with a share of the blocks "
        "that all of them need. Where blocks run short the last to arrive is taken out, and its "
        "keys and values are computed again (recompute) or kept in the host's memory (swap, over "
        "16 lanes of PCIe 4.0). In virtual time, with LLaMA2-7B's shape on an A100 at its "
        "profile's peaks. Measured: 16 requests to SmolLM2-135M-Instruct (Q4_1) on all cores of "
        "this machine, prompts of 64 tokens, 192 new ones each.";
    experiment.axes = {
        {"blocks", "share of those that all need at once", {1.0, 0.8, 0.6, 0.4, 0.2}, true}};
    experiment.variants = {"recompute", "swap"};
    experiment.metrics = {
        {"tokens_per_s", "1/s", "new tokens over modelled or measured time", Direction::higher,
         true},
        {"slowdown", "ratio", "of the time, over all blocks", Direction::lower, true},
        {"preemptions", "count", "of all requests", Direction::lower, true},
        {"computed_tokens", "count", "fed, however often", Direction::lower, true},
        {"same_bits", "bool", "ids and log-probabilities are those with all blocks",
         Direction::higher, true}};
    vary_in_time(experiment, {"tokens_per_s", "slowdown"});
    experiment.profiles = simulated_and_measured({.measured_s = 25});
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "slowdown",
                         .x = "blocks",
                         .panels = {},
                         .x_title = "share of the blocks that all need",
                         .y_title = "time over all blocks"};
    experiment.validate = [](const SampleSpec& spec) {
        // One request must fit.
        const double least = spec.provenance == Provenance::measured ? 0.1 : 0.05;
        const double share = number_axis(spec, "blocks");
        if (!(share >= least && share <= 1))
            throw UserError(fmt::format("blocks: a number from {} to 1", least));
    };
    add_places(experiment);
    experiment.run = run;
    return experiment;
}

}  // namespace assay::decode
