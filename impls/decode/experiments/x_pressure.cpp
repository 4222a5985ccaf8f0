// What too few blocks cost.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

constexpr int requests = 32, prompt_tokens = 256, new_tokens = 512;

void run(const SampleSpec& spec, Recorder& recorder) {
    auto jobs = random_jobs(requests, prompt_tokens, 0, new_tokens, spec.seed);
    const int all = blocks_for_all(jobs, modelled_context);
    const BatchRun roomy = run_batch(jobs, on_modelled_gpu(all));
    BatchRunOptions options =
        on_modelled_gpu(static_cast<int>(std::lround(number_axis(spec, "blocks") * all)));
    options.engine.swap = spec.variant == "swap";
    const BatchRun result = run_batch(jobs, options);
    recorder.metric("tokens_per_s", tokens_made(result) / result.step_s);
    recorder.metric("slowdown", result.step_s / roomy.step_s);
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
        "profile's peaks.";
    experiment.axes = {
        {"blocks", "share of those that all need at once", {1.0, 0.8, 0.6, 0.4, 0.2}, true}};
    experiment.variants = {"recompute", "swap"};
    experiment.metrics = {
        {"tokens_per_s", "1/s", "new tokens over modelled time", Direction::higher, true},
        {"slowdown", "ratio", "of the time, over all blocks", Direction::lower, true},
        {"preemptions", "count", "of all requests", Direction::lower, true},
        {"computed_tokens", "count", "fed, however often", Direction::lower, true},
        {"same_bits", "bool", "ids and log-probabilities are those with all blocks",
         Direction::higher, true}};
    experiment.profiles = simulated_profiles(0.2);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "slowdown",
                         .x = "blocks",
                         .panels = {},
                         .x_title = "share of the blocks that all need",
                         .y_title = "time over all blocks"};
    experiment.validate = [](const SampleSpec& spec) {
        const double share = number_axis(spec, "blocks");
        if (!(share >= 0.05 && share <= 1)) throw UserError("blocks: a number from 0.05 to 1");
    };
    experiment.calibration = [](const SampleSpec&) { return modelled_gpu_calibration(); };
    experiment.run = run;
    return experiment;
}

}  // namespace assay::decode
