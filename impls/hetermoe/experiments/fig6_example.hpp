// The example of Fig. 6: its profile, what its variants move, and what is measured of a pass.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "impls/hetermoe/emulated/paced_training.hpp"
#include "impls/hetermoe/policy/profile.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {

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
PacedPlan fig6_plan(const SampleSpec& spec);

/// `spec`: the variant and the axis expert_on_new; `expert_task`: how long one is.
Fig6Example fig6_example(const SampleSpec& spec, Nanoseconds expert_task);

/// Makespan, attention_idle and expert_bubbles of a pass, whose times are in expert tasks. A GPU is
/// busy for as long as the modelled one is.
void record_fig6(std::span<const TaskRun> runs, Recorder& recorder);

}  // namespace assay::hetermoe
