// A guarded training under faults: its settings and what is measured, for its declaration, the live
// campaign, and x_faults_run.cpp in the module of tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "impls/tensors/part.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::dr_post_training {

struct FaultyTraining {
    std::string arm;
    std::int64_t steps = 16, checkpoint_every = 3;
    FaultPlan faults;
    std::uint64_t seed = 1;
    std::filesystem::path scratch;
};

inline const tensors::Part<void(const FaultyTraining&, Recorder&)> train_under_faults{
    "dr_post_training/x_faults"};
void run(const FaultyTraining& faulty, Recorder& recorder);  ///< the same, within the module
/// A small guarded training under the faults that a seed stands for. `scratch`: for checkpoints.
inline const tensors::Part<drive::SeedOutcome(std::uint64_t, const std::filesystem::path& scratch)>
    run_live_schedule{"dr_post_training/live_schedule"};

struct FaultsFound : Metrics {
    using Metrics::Metrics;
    Metric state_equal =
        exact("state_equal_to_oracle", "bool",
              "1: weights, moments and selections equal those without faults bit for bit", higher);
    Metric stored_steps = exact("stored_steps", "count", "steps stored, each once", higher);
    Metric faults_fired = exact("faults_fired", "count", "faults injected");
    Metric deaths = varying("deaths", "count", "workers lost");
    Metric redone =
        varying("redone", "count", "steps computed again as their numbers were not finite");
    Metric restored = varying("restored", "count", "returns of a live worker to a checkpoint");
    Metric restarted = varying("restarted", "count", "workers that took another's place");
    Metric repeated = varying("repeated", "count", "stored steps that were applied again", lower);
    Metric unwritten = varying("unwritten", "count", "checkpoints that could not be written");
    Metric unreadable = varying("unreadable", "count", "checkpoints that could not be read");
};

}  // namespace assay::dr_post_training
