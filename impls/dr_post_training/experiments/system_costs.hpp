// Samples that time training steps and scores: their settings, what is measured of them, and the
// parts of the module of tensors that make them; what their declarations have in common.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "impls/dr_post_training/policy/costs.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::dr_post_training {

/// On one thread; at profile gpu on the first GPU.
struct Timed {
    Profile profile{};
    Scoring scoring{};
    std::uint64_t seed = 1;
};
/// Why nothing can be timed on a GPU; std::nullopt: it can.
inline const tensors::Part<std::optional<std::string>()> timing_on_gpu_lacks{
    "dr_post_training/timing_on_gpu_lacks"};

/// Whole steps in turns: overhead, breakdown, overhead_h200.
struct TimedSteps : Timed {
    std::string model;
    std::int64_t tokens = 64, n = 8;
};
inline const tensors::Part<void(const TimedSteps&, Recorder&)> time_steps{"dr_post_training/steps"};

struct StepsFound : Metrics {
    using Metrics::Metrics;
    Metric step_ms = varying("step_ms", "ms", "median of a step", lower, {"arm"});
    Metric over_standard =
        varying("over_standard", "ratio", "to a plain step: median over rounds", lower, {"arm"});
    Metric percent_more = varying("percent_more", "percent",
                                  "than a plain step takes: median over rounds", lower, {"arm"});
    Metric phase_ms =
        varying("phase_ms", "ms",
                "median of a part of a plain step, of the scores, of the chosen rows' gradients",
                none, {"phase"});
    Metric phase_share = varying("phase_share", "share",
                                 "of a plain step: a part of it, the scores", none, {"phase"});
    Metric floor_over_standard = varying("floor_over_standard", "ratio",
                                         "the least a step can take, from phases of the same run");
    Metric layer_over_floor =
        varying("layer_over_floor", "ratio", "a step in which each map chooses, to that", lower);
    Metric one_pass_over_two = varying("one_pass_over_two", "ratio",
                                       "one choice for all maps in one pass, to two passes", lower);
    Metric step_peak_bytes =
        exact("step_peak_bytes", "B", "allocated at a time in a step, besides parameters and state",
              lower, {"arm"});
};

/// The scores of one linear map.
struct TimedMap : Timed {
    std::int64_t out = 0, in = 0, tokens = 0, m = 0, n = 0;
};
struct ScoringCost : TimedMap {};
struct PeakMemory : TimedMap {};
inline const tensors::Part<void(const ScoringCost&, Recorder&)> time_scoring{
    "dr_post_training/scoring_cost"};
inline const tensors::Part<void(const PeakMemory&, Recorder&)> weigh_scoring{
    "dr_post_training/peak_memory"};

/// Adds a profile that is measured.
ProfilePlan& add_measured(Experiment& experiment, Profile profile, int rounds,
                          double seconds_per_sample,
                          std::map<std::string, std::vector<Value>> axes);

/// Id, title, source; profile toy. `source`: what of the paper it is.
Experiment system_experiment(const char* name, const char* title, const char* source);
/// The same of whole steps, with metrics and figure.
Experiment steps_experiment(const char* name, const char* title, const char* source);

/// Axis model. `values`: where nobody says which.
Axes<TimedSteps> model_axis(const char* says, const std::vector<std::string>& values);
/// Of overhead and breakdown: axes, and what makes the samples.
Experiment with_steps(Experiment said);

/// Why a sample cannot be timed on this machine's GPU, where there is the module.
std::optional<std::string> gpu_lacks(const Timed& timed);

/// The variants are ways of scoring.
template <std::derived_from<Timed> Settings>
void add_timed(Declaration<Settings>& timed,
               const std::vector<Scoring>& variants = {Scoring::pip, Scoring::gip, Scoring::direct,
                                                       Scoring::compressed}) {
    timed.variants(&Settings::scoring, variants);
    timed.given(&Settings::profile, &SampleSpec::profile);
    timed.given(&Settings::seed, &SampleSpec::seed);
    timed.unsupported(gpu_lacks);
}

}  // namespace assay::dr_post_training
