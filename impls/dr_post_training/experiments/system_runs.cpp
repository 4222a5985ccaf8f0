// Samples of overhead, breakdown, scoring_cost and peak_memory, in the module of tensors.
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "impls/dr_post_training/method/scoring.hpp"
#include "impls/dr_post_training/recipes/timed_models.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/dr_post_training/timing/scoring_timing.hpp"
#include "impls/dr_post_training/timing/step_timing.hpp"
#include "impls/nn/accelerator.hpp"

namespace assay::dr_post_training {
namespace {

/// One thread; at profile gpu the first GPU, in bf16.
struct Place {
    at::Device device = at::kCPU;
    at::ScalarType type = at::kFloat;
};

Place place_of(const SampleSpec& spec) {
    at::set_num_threads(1);
    if (spec.profile != Profile::gpu) return {};
    if (const auto reason = timing_on_gpu_lacks())
        throw SampleError(SampleStatus::unsupported, *reason);
    return {at::Device(at::kCUDA, 0), at::kBFloat16};
}

/// measure(); a sample that a GPU has no room for is not possible there.
template <class Measure>
auto where_it_fits(const Measure& measure) {
    try {
        return measure();
    } catch (const c10::OutOfMemoryError& error) {
        throw SampleError(SampleStatus::unsupported,
                          fmt::format("this GPU has too little memory for the sample: {}",
                                      error.what_without_backtrace()));
    }
}

int rounds_of(Profile profile) { return profile == Profile::small ? 5 : 15; }

/// "8x512": 8 rows of 512 tokens.
void put_rows(const std::string& word, StepCase& c) {
    const auto at = word.find('x');
    c.n = std::stoll(word);
    c.tokens = std::stoll(word.substr(at + 1));
}

}  // namespace

std::optional<std::string> timing_on_gpu_lacks() {
    if (const auto reason = nn::gpu_missing())
        return fmt::format("steps on a GPU are not supported here: {}", *reason);
    return std::nullopt;
}

void run_steps(const SampleSpec& spec, Recorder& recorder) {
    const Place place = place_of(spec);
    StepCase c;
    c.model = timed_model(assay::to_string(spec.axes.at("model")));
    if (const auto rows = spec.axes.find("rows"); rows != spec.axes.end()) {
        put_rows(assay::to_string(rows->second), c);
    } else {
        c.n = integer_axis(spec, "n");
        c.tokens = integer_axis(spec, "tokens");
    }
    c.k = c.n / 2;
    c.scoring = *of_word<Scoring>(spec.variant);
    c.seed = spec.seed;
    c.rounds = rounds_of(spec.profile);
    c.device = place.device;
    c.compute = c.stored = place.type;
    const StepsMeasured measured = where_it_fits([&] { return measure_steps(c); });
    for (const auto& [arm, seconds] : measured.seconds) {
        recorder.metric("step_ms", 1e3 * seconds, {{"arm", arm}});
        recorder.metric("over_standard", measured.over_standard.at(arm), {{"arm", arm}});
        recorder.metric("percent_more", 100 * (measured.over_standard.at(arm) - 1), {{"arm", arm}});
        recorder.metric("step_peak_bytes", static_cast<double>(measured.peak_bytes.at(arm)),
                        {{"arm", arm}});
    }
    for (const auto& [phase, seconds] : measured.phases) {
        recorder.metric("phase_ms", 1e3 * seconds, {{"phase", phase}});
        recorder.metric("phase_share", seconds / measured.seconds.at("standard"),
                        {{"phase", phase}});
    }
    recorder.metric("floor_over_standard", measured.floor_over_standard);
    recorder.metric("layer_over_floor", measured.layer_over_floor);
    recorder.metric("one_pass_over_two", measured.one_pass_over_two);
}

void run_scoring(const SampleSpec& spec, Recorder& recorder) {
    const Place place = place_of(spec);
    const Scoring scoring = *of_word<Scoring>(spec.variant);
    ScoringCase c;
    c.device = place.device;
    c.type = place.type;
    c.outputs = integer_axis(spec, "out");
    c.inputs = integer_axis(spec, "in");
    c.tokens = integer_axis(spec, "tokens");
    c.n = integer_axis(spec, "n");
    c.m = integer_axis(spec, "m");
    c.seed = spec.seed;
    const bool memory = spec.experiment.ends_with("peak_memory");
    if (memory) c.repeats = 1;
    const ScoringMeasured measured = where_it_fits([&] { return measure_scoring(scoring, c); });
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
        recorder.metric("over_formula", static_cast<double>(measured.peak_bytes) /
                                            (static_cast<double>(c10::elementSize(c.type)) *
                                             costs.elements[which]));
        return;
    }
    recorder.metric("score_ms", 1e3 * measured.seconds);
    recorder.metric("over_products", measured.over_products);
    recorder.metric("gflops", costs.flops[which] / measured.seconds * 1e-9);
}

}  // namespace assay::dr_post_training
