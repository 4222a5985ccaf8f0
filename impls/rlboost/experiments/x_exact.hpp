// A training by reward whose rollout workers are killed: its settings and what is measured, for who
// declares it and for x_exact_run.cpp, in the module of tensors.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/rl/tasks/task.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::rlboost {

/// What becomes of a sample whose worker is lost: it goes on from its tokens, or begins anew.
enum class Lost { resume, restart };
ASSAY_NAMES(Lost, resume, restart)

struct XExact {
    Lost lost{};
    rl::tasks::Task task = rl::tasks::Task::sort;
    int difficulty = 2, workers = 3, kills = 4;
    std::int64_t updates = 8;
    int prompts = 4, samples = 8;
    FaultPlan faults;
    std::uint64_t seed = 1;
    std::filesystem::path scratch;
};

inline const tensors::Part<void(const XExact&, Recorder&)> train_x_exact{"rlboost/x_exact"};

struct ExactFound : Metrics {
    using Metrics::Metrics;
    Metric weights_equal =
        exact("weights_equal", "bool",
              "1: after every update the weights are, bit for bit, those without faults", higher);
    Metric lost = exact("lost", "count", "samples that were asked for and not answered", lower);
    Metric twice = exact("twice", "count", "answers to samples that had one", lower);
    Metric stale_tokens =
        exact("stale_tokens", "count", "tokens drawn with other weights than those of their update",
              lower);
    Metric workers_killed = varying("workers_killed", "count", "rollout workers that were lost");
    Metric faults_fired = varying("faults_fired", "count", "faults of the plan that struck");
    Metric continued =
        varying("continued", "count", "samples begun on one worker and ended on another");
    Metric mismatch = varying(
        "mismatch", "nat",
        "largest difference of a token's log-probability between worker and trainer", lower);
    Metric reward =
        varying("reward", "reward", "mean over the samples of an update", higher, {"update"});
    Metric seconds = varying("seconds", "s", "of the training with faults", lower);
    Metric seconds_undisturbed = varying("seconds_undisturbed", "s", "of that without", lower);
};

}  // namespace assay::rlboost
