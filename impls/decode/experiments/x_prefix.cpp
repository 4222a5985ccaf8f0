// What a cache of prefixes saves where prompts begin alike.
#include <cmath>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

struct Sizes {
    int requests, prompt, tokens;
};
Sizes sizes_of(const SampleSpec& spec) {
    if (spec.provenance == Provenance::measured) return {16, 256, 32};
    return {64, 1024, 128};
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const Sizes sizes = sizes_of(spec);
    const double share = number_axis(spec, "share");
    const auto jobs =
        random_jobs(sizes.requests, sizes.prompt,
                    static_cast<int>(std::lround(share * sizes.prompt)), sizes.tokens, spec.seed);
    const SampleRuns runs = sample_runs(spec);
    BatchRunOptions options = runs.options(blocks_for_all(jobs, runs.context));
    options.engine.prefix = false;
    const BatchRun without = run_batch(jobs, options);
    options.engine.prefix = spec.variant == "prefix_tree";
    const BatchRun result = run_batch(jobs, options);
    recorder.metric("tokens_per_s", tokens_made(result) / runs.seconds(result));
    recorder.metric("speedup", runs.seconds(without) / runs.seconds(result));
    recorder.metric("computed_tokens", static_cast<double>(result.computed_tokens));
    recorder.metric("reused_tokens", static_cast<double>(result.reused_tokens));
    recorder.metric("peak_blocks", result.peak_blocks);
    recorder.metric("same_bits", same_tokens(result, without) ? 1 : 0);
}

}  // namespace

Experiment x_prefix() {
    Experiment experiment;
    experiment.id = "decode/x_prefix";
    experiment.title = "Prompts that begin alike";
    experiment.source = "our own; no paper's";
    experiment.says =
        "64 requests at once, prompts of 1024 tokens of which a share is the same in all, 128 new "
        "tokens each, in batches of 32: with the tree of prefixes and without. In virtual time, "
        "with LLaMA2-7B's shape on an A100 at its profile's peaks; the scheduler is the engine's "
        "own. Measured: 16 requests to SmolLM2-135M-Instruct (Q4_1) on all cores of this machine, "
        "prompts of 256 tokens, 32 new ones each.";
    experiment.axes = {{"share", "of a prompt that all have", {0.0, 0.25, 0.5, 0.75, 0.95}, true}};
    experiment.variants = {"prefix_tree", "none"};
    experiment.metrics = {
        {"tokens_per_s", "1/s", "new tokens over modelled or measured time", Direction::higher,
         true},
        {"speedup", "ratio", "over the same without a tree", Direction::higher, true},
        {"computed_tokens", "count", "fed, however often", Direction::lower, true},
        {"reused_tokens", "count", "of prompts, found in the cache", Direction::higher, true},
        {"peak_blocks", "count", "of the cache, the tree's too", Direction::lower, true},
        {"same_bits", "bool", "ids and log-probabilities are those without a tree",
         Direction::higher, true}};
    vary_in_time(experiment, {"tokens_per_s", "speedup"});
    experiment.profiles = simulated_and_measured({.measured_s = 25});
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "speedup",
                         .x = "share",
                         .panels = {},
                         .x_title = "share of the prompt that all have",
                         .y_title = "speed over no tree"};
    experiment.validate = [](const SampleSpec& spec) {
        const double share = number_axis(spec, "share");
        if (!(share >= 0 && share <= 1)) throw UserError("share: a number from 0 to 1");
    };
    add_places(experiment);
    experiment.run = run;
    return experiment;
}

}  // namespace assay::decode
