// The example of Fig. 6: its profile, what its variants move, and what is measured of a pass.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "impls/hetermoe/emulated/task_executor.hpp"
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

/// `spec`: the variant and the axis expert_on_new; `expert_task`: how long one is.
Fig6Example fig6_example(const SampleSpec& spec, Nanoseconds expert_task);

/// Makespan, attention_idle and expert_bubbles of a pass in expert tasks of `expert_task_s`;
/// transfers among `tasks` count for nothing.
void record_fig6(std::span<const TaskRun> tasks, double expert_task_s, Recorder& recorder);

}  // namespace assay::hetermoe
