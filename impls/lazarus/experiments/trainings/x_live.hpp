// A live training under faults: its settings and what is measured, for those who declare such
// experiments and for x_live_run.cpp, in the module of tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

struct LiveTraining {
    int workers = 6, experts = 8, slots = 5, min_replicas = 3;
    std::int64_t steps = 40, rebalance_every = 25, checkpoint_every = 10;
    FaultPlan faults;
    std::uint64_t seed = 1;
    std::filesystem::path scratch, corpus;
};

/// Needs faults that its controller and workers can have (x_live's check). Throws
/// SampleError(failed) when the training cannot go on.
inline const tensors::Part<void(const LiveTraining&, Recorder&)> train_live{"lazarus/x_live",
                                                                            tensors::Needs::text};

struct LiveFound : Metrics {
    using Metrics::Metrics;
    Metric committed_steps =
        exact("committed_steps", "count", "steps in the final lineage", higher);
    Metric steps_lost =
        exact("steps_lost", "count", "committed steps undone by a checkpoint fallback", lower);
    Metric state_equal = exact(
        "state_equal_to_oracle", "bool",
        "1: weights and moments equal bit for bit the fault-free replay of the same membership",
        higher);
    Metric state_checksum =
        exact("state_checksum", "hash", "of weights and moments after the last step; 52 bits");
    Metric discarded_steps =
        exact("discarded_steps", "count", "attempts at a step that were thrown away");
    Metric deaths = exact("deaths", "count", "workers lost");
    Metric joins = exact("joins", "count", "workers that joined after the start");
    Metric leaves = exact("leaves", "count", "workers that left after a notice");
    Metric fallbacks = exact("fallbacks", "count", "returns to a checkpoint", lower);
    Metric reconfigurations = exact("reconfigurations", "count", "new plans put into force");
    Metric transfers = exact("transfers", "count", "expert states moved between workers");
    Metric faults_planned = exact("faults_planned", "count", "faults in the plan");
    Metric faults_fired = exact("faults_fired", "count", "faults injected");
    Metric retries =
        exact("retries", "count", "steps tried again because they failed on live workers");
    Metric evictions = exact("evictions", "count", "workers ended because nobody could reach them");
    Metric bad_checkpoints =
        exact("bad_checkpoints", "count", "checkpoints that could not be read back", lower);
    Metric loss_first = exact("loss_first", "nat/token", "mean cross entropy of the first step");
    Metric loss_last =
        exact("loss_last", "nat/token", "mean cross entropy of the last step", lower);
    Metric detect_s =
        varying("detect_s", "s", "from the injection of a fault until the supervisor knew", lower,
                {"event"});
    Metric surface_s =
        varying("surface_s", "s", "from the injection until the last survivor's collective broke",
                lower, {"event"});
    Metric regroup_s =
        varying("regroup_s", "s",
                "from detection until every survivor was ready: plan, new group, transfers", lower,
                {"event"});
    Metric fault_to_step_s =
        varying("fault_to_step_s", "s",
                "from the injection of a fault until the survivors' next step was committed", lower,
                {"event", "kind"});
    Metric tokens_per_s =
        varying("tokens_per_s", "1/s", "tokens of committed steps per second of training", higher);
};

}  // namespace assay::lazarus
