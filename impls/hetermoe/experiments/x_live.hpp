// The live training of x_live: its settings and what is measured, for its declaration and for
// x_live_run.cpp, in the module of tensors.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/nn/moe/shape.hpp"
#include "impls/tensors/part.hpp"
#include "suite/base/describe.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::hetermoe {

enum class Precision { f32, f64 };
ASSAY_NAMES(Precision, f32, f64)
enum class Routing { dropless, capacity };
ASSAY_NAMES(Routing, dropless, capacity)

struct LiveTraining {
    int fresh = 2, old = 2, groups = 1, experts = 8, layers = 3, sequences = 8, micro_batches = 2;
    int steps = 10, chunks = 0, checkpoint_every = 4;
    Precision dtype{};
    Routing routing{};
    double capacity_factor = 1.25;
    nn::MoeShape shape{};
    bool replan = false;
    FaultPlan faults;
    std::uint64_t seed = 1;
    std::filesystem::path scratch, corpus;
};

/// Throws SampleError(failed) when the training cannot go on.
inline const tensors::Part<void(const LiveTraining&, Recorder&)> train_live{"hetermoe/x_live",
                                                                            tensors::Needs::text};

struct LiveFound : Metrics {
    using Metrics::Metrics;
    Metric loss = exact("loss", "nat/token", "mean cross entropy of a step", none, {"step"});
    Metric difference =
        exact("difference", "ratio",
              "from the same training in one process: the largest, over the dense block and all "
              "experts, of the norm of the weights' difference over that of the weights",
              lower);
    Metric committed_steps =
        exact("committed_steps", "count", "steps in the final lineage", higher);
    Metric state_equal = exact(
        "state_equal_to_oracle", "bool",
        "1: weights and moments equal bit for bit those of the same groups without faults", higher);
    Metric discarded_steps =
        exact("discarded_steps", "count", "attempts at a step that were thrown away");
    Metric steps_lost =
        exact("steps_lost", "count", "committed steps undone by a return to a checkpoint", lower);
    Metric deaths = exact("deaths", "count", "workers lost");
    Metric joins = exact("joins", "count", "workers that joined after the start");
    Metric leaves = exact("leaves", "count", "workers that left after a notice");
    Metric plans = exact("plans", "count", "put into force after the first");
    Metric moved_experts =
        varying("moved_experts", "count",
                "of all layers and old workers of a group, on new ones in a step", none, {"step"});
    Metric moves =
        exact("moves", "count", "states of experts, or dense ones, moved between workers");
    Metric faults_fired = exact("faults_fired", "count", "faults injected");
    Metric tokens_per_s =
        varying("tokens_per_s", "1/s", "tokens of committed steps per second of training", higher);
    Metric detect_s =
        varying("detect_s", "s", "from the injection of a fault until the supervisor knew", lower,
                {"event"});
    Metric regroup_s = varying("regroup_s", "s", "from detection until every survivor was ready",
                               lower, {"event"});
};

}  // namespace assay::hetermoe
