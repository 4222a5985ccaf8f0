// What a cache of prefixes saves where prompts begin alike.
#include <cmath>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::decode {
namespace {

enum class Cache { prefix_tree, none };
ASSAY_NAMES(Cache, prefix_tree, none)

struct XPrefix : SampleClock {
    double share = 0;
    Cache cache{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric tokens_per_s = exact_unless({Provenance::measured}, "tokens_per_s", "1/s",
                                       "new tokens over modelled or measured time", higher);
    Metric speedup = exact_unless({Provenance::measured}, "speedup", "ratio",
                                  "over the same without a tree", higher);
    Metric computed_tokens = exact("computed_tokens", "count", "fed, however often", lower);
    Metric reused_tokens =
        exact("reused_tokens", "count", "of prompts, found in the cache", higher);
    Metric peak_blocks = exact("peak_blocks", "count", "of the cache, the tree's too", lower);
    Metric same_bits =
        exact("same_bits", "bool", "ids and log-probabilities are those without a tree", higher);
};

struct Sizes {
    int requests, prompt, tokens;
};

void run(const XPrefix& settings, Recorder& recorder) {
    const Sizes sizes = settings.measured() ? Sizes{16, 256, 32} : Sizes{64, 1024, 128};
    const auto shared = static_cast<int>(std::lround(settings.share * sizes.prompt));
    const auto jobs =
        random_jobs(sizes.requests, sizes.prompt, shared, sizes.tokens, settings.seed);
    const SampleRuns runs = sample_runs(settings);
    BatchRunOptions options = runs.options(blocks_for_all(jobs, runs.context));
    options.engine.prefix = false;
    const BatchRun without = run_batch(jobs, options);
    options.engine.prefix = settings.cache == Cache::prefix_tree;
    const BatchRun result = run_batch(jobs, options);
    const Found found(recorder);
    found.tokens_per_s(tokens_made(result) / runs.seconds(result));
    found.speedup(runs.seconds(without) / runs.seconds(result));
    found.computed_tokens(result.computed_tokens);
    found.reused_tokens(result.reused_tokens);
    found.peak_blocks(result.peak_blocks);
    found.same_bits(same_tokens(result, without));
}

}  // namespace

Experiment x_prefix() {
    Declaration<XPrefix> declaration({.id = "decode/x_prefix",
                                      .title = "Prompts that begin alike",
                                      .source = "our own; no paper's",
                                      .says = "64 requests at once, prompts of 1024 tokens of "
                                              "which a share is the same in all, 128 new "
                                              "tokens each, in batches of 32: with the tree of "
                                              "prefixes and without. In virtual time, "
                                              "with LLaMA2-7B's shape on an A100 at its profile's "
                                              "peaks; the scheduler is the engine's "
                                              "own. Measured: 16 requests to SmolLM2-135M-Instruct "
                                              "(Q4_1) on all cores of this machine, "
                                              "prompts of 256 tokens, 32 new ones each.",
                                      .metrics = declared<Found>(),
                                      .profiles = simulated_and_measured({.measured_s = 25}),
                                      .figure = {.kind = Figure::Kind::lines,
                                                 .metric = "speedup",
                                                 .x = "share",
                                                 .x_title = "share of the prompt that all have",
                                                 .y_title = "speed over no tree"}});
    declaration.axis("share", &XPrefix::share, "of a prompt that all have",
                     {0, 0.25, 0.5, 0.75, 0.95}, between(0, 1));
    declaration.variants(&XPrefix::cache);
    add_place(declaration);
    return declaration.runs(run);
}

}  // namespace assay::decode
