// Samples of overhead, breakdown, scoring_cost and peak_memory, in the module of tensors.
#include "impls/dr_post_training/experiments/system_costs.hpp"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "impls/dr_post_training/method/scoring.hpp"
#include "impls/dr_post_training/recipes/timed_models.hpp"
#include "impls/dr_post_training/timing/scoring_timing.hpp"
#include "impls/dr_post_training/timing/step_timing.hpp"
#include "impls/nn/accelerator.hpp"

namespace assay::dr_post_training {
namespace {

std::optional<std::string> gpu_timing_lacks() {
    if (const auto reason = nn::gpu_missing())
        return fmt::format("steps on a GPU are not supported here: {}", *reason);
    return std::nullopt;
}

/// One thread; at profile gpu the first GPU, in bf16.
struct Place {
    at::Device device = at::kCPU;
    at::ScalarType type = at::kFloat;
};

Place place_of(const Timed& timed) {
    at::set_num_threads(1);
    if (timed.profile != Profile::gpu) return {};
    if (const auto reason = gpu_timing_lacks())
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

void run(const TimedSteps& steps, Recorder& recorder) {
    const Place place = place_of(steps);
    const StepCase c{.model = timed_model(steps.model),
                     .n = steps.n,
                     .k = steps.n / 2,
                     .tokens = steps.tokens,
                     .scoring = steps.scoring,
                     .seed = steps.seed,
                     .rounds = rounds_of(steps.profile),
                     .device = place.device,
                     .compute = place.type,
                     .stored = place.type};
    const StepsMeasured measured = where_it_fits([&] { return measure_steps(c); });
    const StepsFound found(recorder);
    for (const auto& [arm, seconds] : measured.seconds) {
        const Labels labels{{"arm", arm}};
        found.step_ms(1e3 * seconds, labels);
        found.over_standard(measured.over_standard.at(arm), labels);
        found.percent_more(100 * (measured.over_standard.at(arm) - 1), labels);
        found.step_peak_bytes(measured.peak_bytes.at(arm), labels);
    }
    for (const auto& [phase, seconds] : measured.phases) {
        found.phase_ms(1e3 * seconds, {{"phase", phase}});
        found.phase_share(seconds / measured.seconds.at("standard"), {{"phase", phase}});
    }
    found.floor_over_standard(measured.floor_over_standard);
    found.layer_over_floor(measured.layer_over_floor);
    found.one_pass_over_two(measured.one_pass_over_two);
}

ScoringCase case_of(const TimedMap& map) {
    const Place place = place_of(map);
    return {.outputs = map.out,
            .inputs = map.in,
            .n = map.n,
            .m = map.m,
            .tokens = map.tokens,
            .seed = map.seed,
            .device = place.device,
            .type = place.type};
}

struct ClosedForm {
    double flops = 0, elements = 0;
};
ClosedForm closed_form(const TimedMap& map) {
    const auto costs =
        scoring_costs({{static_cast<double>(map.out), static_cast<double>(map.in), 1}},
                      {.n = static_cast<double>(map.n),
                       .m = static_cast<double>(map.m),
                       .k = 1,
                       .tokens = static_cast<double>(map.tokens)});
    const auto which = static_cast<std::size_t>(map.scoring);
    return {costs.flops[which], costs.elements[which]};
}

void run(const ScoringCost& map, Recorder& recorder) {
    const ScoringCase c = case_of(map);
    const ScoringMeasured measured = where_it_fits([&] { return measure_scoring(map.scoring, c); });
    recorder.metric("score_ms", 1e3 * measured.seconds);
    recorder.metric("over_products", measured.over_products);
    recorder.metric("gflops", closed_form(map).flops / measured.seconds * 1e-9);
}

void run(const PeakMemory& map, Recorder& recorder) {
    ScoringCase c = case_of(map);
    c.repeats = 1;
    const auto peak_bytes = static_cast<double>(
        where_it_fits([&] { return measure_scoring(map.scoring, c); }).peak_bytes);
    recorder.metric("peak_bytes", peak_bytes);
    recorder.metric("over_formula", peak_bytes / (static_cast<double>(c10::elementSize(c.type)) *
                                                  closed_form(map).elements));
}

const tensors::Provided provided_steps(time_steps, run), provided_scoring(time_scoring, run),
    provided_memory(weigh_scoring, run), provided_gpu(timing_on_gpu_lacks, gpu_timing_lacks);

}  // namespace
}  // namespace assay::dr_post_training
