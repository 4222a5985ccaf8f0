// The example of Fig. 6: its profile, what its variants move, and what is measured of a pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "impls/hetermoe/emulated/paced_training.hpp"
#include "impls/hetermoe/policy/profile.hpp"
#include "suite/base/describe.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::hetermoe {

/// What moves: nothing, what Algorithm 1 says, one expert in each layer.
enum class Fig6Moves { zebra, hetermoe, all_layers };
ASSAY_NAMES(Fig6Moves, zebra, hetermoe, all_layers)

struct Fig6 {
    double expert_on_new = 0.8;  ///< in expert tasks of the expert GPU
    Fig6Moves moves{};
    Provenance provenance{};
    std::uint64_t seed = 1;
};

struct Fig6Example {
    TrainingProfile profile;
    std::vector<int> offload;
    static constexpr int micro_batches = 3;

    StepShape step() const {
        return {.micro_batches = micro_batches, .offload = offload, .backward = false};
    }
};

/// Emulated, an expert task lasts so long: what a process or a transfer is late by is little of it.
inline constexpr double fig6_expert_task_s = 0.25;

/// The example for two processes. A pass counts where half a percent of it is lateness at most:
/// the two ratios that are claimed of it, of makespans within 0.01 of 0.9 and of idle times within
/// 0.02 of 0.4, then cannot leave their margins by it (they move by 0.0045 and 0.015 at most).
PacedPlan fig6_plan(const Fig6& fig6);

/// `expert_task`: how long one is.
Fig6Example fig6_example(const Fig6& fig6, Nanoseconds expert_task);

struct Fig6Found : Metrics {
    using Metrics::Metrics;
    Metric makespan = exact_unless({Provenance::emulated}, "makespan", "expert tasks",
                                   "of the forward pass", lower);
    Metric attention_idle = exact_unless({Provenance::emulated}, "attention_idle", "expert tasks",
                                         "of the attention GPU, to the makespan", lower);
    Metric expert_bubbles = exact_unless(
        {Provenance::emulated}, "expert_bubbles", "share",
        "idle share of the expert GPU between its first task's start and its last one's end",
        lower);
    Metric timeline_error =
        emulated("timeline_error", "share", "of the makespan, by which it is longer than computed");
    Metric late = emulated("late", "share",
                           "of the makespan, in which tasks that others waited for were late: more "
                           "than 0.5 %, and the sample is invalid",
                           lower);
    Metric attempts = emulated("attempts", "count", "at a pass, until it was late by no more");
    Metric difference = emulated("difference", "share", "of the loss, from one process'", lower);
    Metric offload =
        exact("offload", "count", "experts moved to the attention GPU", none, {"layer"});

  private:
    Metric emulated(std::string name, std::string unit, std::string says, Direction better = none) {
        return metric({.name = std::move(name),
                       .unit = std::move(unit),
                       .says = std::move(says),
                       .better = better,
                       .only = {Provenance::emulated}});
    }
};

/// Makespan, attention_idle and expert_bubbles of a pass, whose times are in expert tasks. A GPU is
/// busy for as long as the modelled one is.
void record_fig6(std::span<const TaskRun> runs, const Fig6Found& found);

}  // namespace assay::hetermoe
