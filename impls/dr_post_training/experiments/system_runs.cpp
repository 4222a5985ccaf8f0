// Samples of overhead, scoring_cost and peak_memory, in the module of tensors.
#include <ATen/Parallel.h>

#include "impls/dr_post_training/method/scoring.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/dr_post_training/timing/scoring_timing.hpp"
#include "impls/dr_post_training/timing/step_timing.hpp"

namespace assay::dr_post_training {
namespace {

nn::DecoderConfig timed_model(const std::string& name) {
    nn::DecoderConfig config;
    const bool larger = name == "llama-9m";
    config.layers = larger ? 10 : 5;
    config.width = larger ? 256 : 128;
    config.hidden = larger ? 704 : 352;
    config.head_width = 32;
    config.heads = config.kv_heads = config.width / config.head_width;
    config.vocabulary = 256;
    config.context = 4096;
    config.name = name;
    return config;
}

}  // namespace

void run_overhead(const SampleSpec& spec, Recorder& recorder) {
    at::set_num_threads(1);
    StepCase c;
    c.model = timed_model(assay::to_string(spec.axes.at("model")));
    c.n = integer_axis(spec, "n");
    c.k = c.n / 2;
    c.tokens = integer_axis(spec, "tokens");
    c.scoring = *parse_scoring(spec.variant);
    c.seed = spec.seed;
    const StepsMeasured measured = measure_steps(c);
    for (const auto& [arm, seconds] : measured.seconds) {
        recorder.metric("step_ms", 1e3 * seconds, {{"arm", arm}});
        recorder.metric("over_standard", measured.over_standard.at(arm), {{"arm", arm}});
        recorder.metric("step_peak_bytes", static_cast<double>(measured.peak_bytes.at(arm)),
                        {{"arm", arm}});
    }
    for (const auto& [phase, seconds] : measured.phases)
        recorder.metric("phase_ms", 1e3 * seconds, {{"phase", phase}});
    recorder.metric("floor_over_standard", measured.floor_over_standard);
    recorder.metric("layer_over_floor", measured.layer_over_floor);
}

void run_scoring(const SampleSpec& spec, Recorder& recorder) {
    at::set_num_threads(1);
    const Scoring scoring = *parse_scoring(spec.variant);
    ScoringCase c;
    c.outputs = integer_axis(spec, "out");
    c.inputs = integer_axis(spec, "in");
    c.tokens = integer_axis(spec, "tokens");
    c.n = integer_axis(spec, "n");
    c.m = integer_axis(spec, "m");
    c.seed = spec.seed;
    const bool memory = spec.experiment.ends_with("peak_memory");
    if (memory) c.repeats = 1;
    const ScoringMeasured measured = measure_scoring(scoring, c);
    CostSettings settings;
    settings.n = static_cast<double>(c.n);
    settings.m = static_cast<double>(c.m);
    settings.k = 1;
    settings.tokens = static_cast<double>(c.tokens);
    const auto costs = scoring_costs(
        {{static_cast<double>(c.outputs), static_cast<double>(c.inputs), 1}}, settings);
    const auto which = static_cast<std::size_t>(scoring);
    if (memory) {
        recorder.metric("peak_bytes", static_cast<double>(measured.peak_bytes));
        recorder.metric("over_formula",
                        static_cast<double>(measured.peak_bytes) / (4 * costs.elements[which]));
        return;
    }
    recorder.metric("score_ms", 1e3 * measured.seconds);
    recorder.metric("over_products", measured.over_products);
    recorder.metric("gflops", costs.flops[which] / measured.seconds * 1e-9);
}

}  // namespace assay::dr_post_training
