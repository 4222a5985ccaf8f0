// What too few blocks cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::decode {
namespace {

enum class Preempted { recompute, swap };
ASSAY_NAMES(Preempted, recompute, swap)

struct XPressure : SampleClock {
    double blocks = 0;
    Preempted preempted{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric tokens_per_s = exact_unless({Provenance::measured}, "tokens_per_s", "1/s",
                                       "new tokens over modelled or measured time", higher);
    Metric slowdown = exact_unless({Provenance::measured}, "slowdown", "ratio",
                                   "of the time, over all blocks", lower);
    Metric preemptions = exact("preemptions", "count", "of all requests", lower);
    Metric computed_tokens = exact("computed_tokens", "count", "fed, however often", lower);
    Metric same_bits =
        exact("same_bits", "bool", "ids and log-probabilities are those with all blocks", higher);
};

struct Sizes {
    int requests, prompt, tokens;
};

void check(const XPressure& settings) {
    // One request must fit.
    const double least = settings.measured() ? 0.1 : 0.05;
    if (!(settings.blocks >= least && settings.blocks <= 1))
        throw UserError(fmt::format("blocks: a number from {} to 1", least));
}

void run(const XPressure& settings, Recorder& recorder) {
    const Sizes sizes = settings.measured() ? Sizes{16, 64, 192} : Sizes{32, 256, 512};
    const auto jobs = random_jobs(sizes.requests, sizes.prompt, 0, sizes.tokens, settings.seed);
    const SampleRuns runs = sample_runs(settings);
    const int all = blocks_for_all(jobs, runs.context);
    const BatchRun roomy = run_batch(jobs, runs.options(all));
    BatchRunOptions options = runs.options(static_cast<int>(std::lround(settings.blocks * all)));
    options.engine.swap = settings.preempted == Preempted::swap;
    const BatchRun result = run_batch(jobs, options);
    const Found found(recorder);
    found.tokens_per_s(tokens_made(result) / runs.seconds(result));
    found.slowdown(runs.seconds(result) / runs.seconds(roomy));
    found.preemptions(result.preemptions);
    found.computed_tokens(result.computed_tokens);
    found.same_bits(same_tokens(result, roomy));
}

}  // namespace

Experiment x_pressure() {
    Declaration<XPressure> declaration(
        {.id = "decode/x_pressure",
         .title = "Fewer blocks than all requests need",
         .source = "our own; no paper's",
         .says = "32 requests at once, prompts of 256 tokens, 512 new ones each, with a share of "
                 "the blocks "
                 "that all of them need. Where blocks run short the last to arrive is taken out, "
                 "and its "
                 "keys and values are computed again (recompute) or kept in the host's memory "
                 "(swap, over "
                 "16 lanes of PCIe 4.0). In virtual time, with LLaMA2-7B's shape on an A100 at its "
                 "profile's peaks. Measured: 16 requests to SmolLM2-135M-Instruct (Q4_1) on all "
                 "cores of "
                 "this machine, prompts of 64 tokens, 192 new ones each.",
         .metrics = declared<Found>(),
         .profiles = simulated_and_measured({.measured_s = 25}),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "slowdown",
                    .x = "blocks",
                    .x_title = "share of the blocks that all need",
                    .y_title = "time over all blocks"}});
    declaration.axis("blocks", &XPressure::blocks, "share of those that all need at once",
                     {1, 0.8, 0.6, 0.4, 0.2}, or_others);
    declaration.variants(&XPressure::preempted);
    declaration.check(check);
    add_place(declaration);
    return declaration.runs(run);
}

}  // namespace assay::decode
