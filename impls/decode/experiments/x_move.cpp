// What it costs a request to go on in another engine.
#include <nlohmann/json.hpp>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

constexpr int requests = 16, new_tokens = 64;

void run(const SampleSpec& spec, Recorder& recorder) {
    const auto length = static_cast<int>(integer_axis(spec, "length"));
    const auto jobs = random_jobs(requests, length, 0, new_tokens, spec.seed);
    BatchRunOptions options = on_modelled_gpu(blocks_for_all(jobs, modelled_context));
    const BatchRun stays = run_batch(jobs, options);
    options.move_at = stays.steps - new_tokens / 2;
    options.move_cache = spec.variant == "with_kv";
    const BatchRun moved = run_batch(jobs, options);
    recorder.metric("lost_s", moved.step_s - stays.step_s);
    recorder.metric("computed_again",
                    static_cast<double>(moved.computed_tokens - stays.computed_tokens));
    recorder.metric("same_bits", same_tokens(moved, stays) ? 1 : 0);
}

}  // namespace

Experiment x_move() {
    Experiment experiment;
    experiment.id = "decode/x_move";
    experiment.title = "Requests that go on in another engine";
    experiment.source = "our own; no paper's";
    experiment.says =
        "16 requests move half-way through their 64 new tokens: with their tokens alone, whose "
        "keys and values the second engine computes, or with these too (with_kv, over 16 lanes of "
        "PCIe 4.0 to the host's memory and back). Lost is the modelled time beyond that of the "
        "same requests that stay. In virtual time, with LLaMA2-7B's shape on an A100 at its "
        "profile's peaks.";
    experiment.axes = {{"length",
                        "prompt tokens of each",
                        {std::int64_t{128}, std::int64_t{512}, std::int64_t{2048}},
                        true}};
    experiment.variants = {"tokens", "with_kv"};
    experiment.metrics = {
        {"lost_s", "s", "of all requests together", Direction::lower, true},
        {"computed_again", "count", "tokens fed a second time", Direction::lower, true},
        {"same_bits", "bool", "ids and log-probabilities are those of requests that stay",
         Direction::higher, true}};
    experiment.profiles = simulated_profiles(0.2);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "lost_s",
                         .x = "length",
                         .panels = {},
                         .x_title = "prompt tokens",
                         .y_title = "time lost (s)"};
    experiment.validate = [](const SampleSpec& spec) {
        integer_axis(spec, "length", 1, modelled_context - new_tokens);
    };
    experiment.calibration = [](const SampleSpec&) { return modelled_gpu_calibration(); };
    experiment.run = run;
    return experiment;
}

}  // namespace assay::decode
