// What of a training's course is stored: the same for paced and for simulated trainings of fig9,
// for fig6 and its like, and for x_clocks, which holds the two clocks against each other.
#pragma once

#include <string>
#include <vector>

#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::lazarus {

struct CourseFound : Metrics {
    using Metrics::Metrics;
    Metric samples_total =
        varying("samples_total", "count",
                "sequences trained in steps that were not lost again, modelled", higher);
    Metric samples_lost = varying("samples_lost", "count",
                                  "sequences of committed steps that a restart undid", lower);
    Metric restarts =
        varying("restarts", "count", "returns to a checkpoint after nodes were lost", lower);
    Metric restarts_by_reason = varying(
        "restarts_by_reason", "count",
        "no_replica_left: an expert had no live holder; too_few_survivors: fewer nodes were "
        "left than can hold every expert, training waited for more; every_loss: the system "
        "restarts whenever a training node is lost (ds); "
        "planned: for nodes that join, no step is lost and `restarts` does not count it (ds)",
        none, {"reason"});
    Metric waits =
        varying("waits", "count", "times training stood still until more nodes came", lower);
    Metric restart_min =
        varying("restart_min", "min",
                "minute at which a restart from a checkpoint began, by draw of the victims (the "
                "seed); of a run without a restart the minute at which it ended",
                none, {"event", "draw"});
    Metric deaths = varying("deaths", "count", "workers killed while they trained or waited");
    Metric mean_nodes_used =
        varying("mean_nodes_used", "count", "workers that train, over time", higher);
    Metric share =
        varying("share", "fraction",
                "of the time: compute, checkpoint, restart, reconfiguration, lost (undone and "
                "interrupted steps, waiting for nodes)",
                none, {"part"});
    Metric overhead = varying("overhead", "fraction",
                              "of the time, as Fig. 11 adds them up: checkpoint_and_restart, "
                              "reconfiguration_and_rebalance",
                              lower, {"kind"});
    Metric step_s = varying("step_s", "s", "median modelled step with all nodes", lower);
};

/// CourseFound and curves.
void record_course(const TrainingCourse& course, const SpotTraining& training,
                   const Modelling& modelling, Recorder& recorder);

/// `share` of the time by "part": compute (of the steps `kept`), checkpoint, restart,
/// reconfiguration, lost.
void record_shares(const TrainingCourse& course, const std::vector<StepRecord>& kept,
                   double duration_s, const Metric& share);

/// NaN for none.
double median(std::vector<double> values);

}  // namespace assay::lazarus
