// What a cache of prefixes saves where prompts begin alike.
#include <cmath>
#include <nlohmann/json.hpp>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

constexpr int requests = 64, prompt_tokens = 1024, new_tokens = 128;

void run(const SampleSpec& spec, Recorder& recorder) {
    const double share = number_axis(spec, "share");
    const auto jobs =
        random_jobs(requests, prompt_tokens, static_cast<int>(std::lround(share * prompt_tokens)),
                    new_tokens, spec.seed);
    BatchRunOptions options = on_modelled_gpu(blocks_for_all(jobs, modelled_context));
    options.engine.prefix = false;
    const BatchRun without = run_batch(jobs, options);
    options.engine.prefix = spec.variant == "prefix_tree";
    const BatchRun result = run_batch(jobs, options);
    recorder.metric("tokens_per_s", tokens_made(result) / result.step_s);
    recorder.metric("speedup", without.step_s / result.step_s);
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
        "own.";
    experiment.axes = {{"share", "of a prompt that all have", {0.0, 0.25, 0.5, 0.75, 0.95}, true}};
    experiment.variants = {"prefix_tree", "none"};
    experiment.metrics = {
        {"tokens_per_s", "1/s", "new tokens over modelled time", Direction::higher, true},
        {"speedup", "ratio", "over the same without a tree", Direction::higher, true},
        {"computed_tokens", "count", "fed, however often", Direction::lower, true},
        {"reused_tokens", "count", "of prompts, found in the cache", Direction::higher, true},
        {"peak_blocks", "count", "of the cache, the tree's too", Direction::lower, true},
        {"same_bits", "bool", "ids and log-probabilities are those without a tree",
         Direction::higher, true}};
    experiment.profiles = simulated_profiles(0.2);
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
    experiment.calibration = [](const SampleSpec&) { return modelled_gpu_calibration(); };
    experiment.run = run;
    return experiment;
}

}  // namespace assay::decode
