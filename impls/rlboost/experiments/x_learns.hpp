// Whether a training by reward teaches a task: its settings and what is measured, for who declares
// it and for x_learns_run.cpp, in the module of tensors.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/rl/tasks/task.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::rlboost {

/// shuffled: GRPO whose rewards are dealt out at random; sft: shown right answers to as many other
/// questions.
enum class Learner { grpo, dr_grpo, shuffled, sft };
ASSAY_NAMES(Learner, grpo, dr_grpo, shuffled, sft)

struct XLearns {
    Learner learner{};
    rl::tasks::Task task = rl::tasks::Task::sort;
    int difficulty = 3, workers = 2;
    std::int64_t updates = 300;
    int prompts = 16, samples = 16, tested_prompts = 120;
    double start = 0.3, rate = 2e-4;
    FaultPlan faults;
    std::uint64_t seed = 1;
    std::filesystem::path scratch;
};

inline const tensors::Part<void(const XLearns&, Recorder&)> train_x_learns{"rlboost/x_learns"};

struct LearnsFound : Metrics {
    using Metrics::Metrics;
    Metric gain = varying("gain", "share", "accuracy_after less accuracy_before", higher);
    Metric accuracy_before = varying(
        "accuracy_before", "share", "likeliest answers to held-out prompts that are right, before");
    Metric accuracy_after = varying("accuracy_after", "share", "… and after all updates", higher);
    Metric reward =
        varying("reward", "reward", "mean over the samples of an update", higher, {"update"});
    Metric truncated = varying("truncated", "share", "of samples, in the last update", lower);
    Metric zero_variance =
        varying("zero_variance", "share", "of groups that say nothing, mean over updates", lower);
    Metric mismatch = varying(
        "mismatch", "nat",
        "largest difference of a token's log-probability between worker and trainer", lower);
    Metric tokens_per_s =
        varying("tokens_per_s", "1/s", "tokens trained on, over all of the training", higher);
};

}  // namespace assay::rlboost
