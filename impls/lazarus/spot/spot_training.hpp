// What fig9, tab2 and the live campaign have in common: one of the paper's models, trained by paced
// or simulated workers under one of the competing systems, and what such a training achieved on the
// clock.
#pragma once

#include <string>
#include <vector>

#include "impls/lazarus/course.hpp"
#include "impls/lazarus/simulated/training.hpp"
#include "suite/experiment/rate_curve.hpp"

namespace assay::lazarus {

/// The settings of the paper's evaluation (section 6.1) that all its spot experiments share.
struct SpotTraining {
    std::string system = "lazarus";  ///< one of competing_systems()
    std::string model = "gpt-s";
    std::string cluster = "lazarus-testbed";
    std::string routing = "synthetic";  ///< or the file of a routing trace
    int workers = 10;
    int real_layers =
        4;  ///< MoE layers that really train; each for 12 / real_layers of the paper's
    int modelled_steps = 25;  ///< one real step stands for so many
    int slots = 6;            ///< replica slots per node and layer (section 6.1); not of ds, ds_ft
    PlacementPolicy placement = PlacementPolicy::mro;  ///< of systems without one of their own
    double overlap = 0;      ///< of gradient sums and backward pass: see StepTimeline
    int relaunch_s = -1;     ///< of a whole job; -1: the cluster profile's
    double duration_s = 0;   ///< scenario seconds; 0: until `steps`
    Step steps = 1'000'000;  ///< real ones
    std::uint64_t seed = 1;
};

/// The same as settings of the controller and of the cost model; without faults. Throws UserError
/// where a number makes no sense (intervals that `modelled_steps` does not divide).
ModelledTraining modelled_training(const SpotTraining& training);

/// Sequences (the paper's "samples") that one committed real step stands for.
double samples_of(const StepRecord& step, const Modelling& modelling);

// ---- work done ---------------------------------------------------------------------------------
// A committed step counts unless a restart undid it later or it ended after the time was up. Sums
// over the curve of steps that count and the totals of the result table are the same numbers.

/// The steps that count, by number. Of a step that was undone and made again, the last try; one
/// that was undone and never made again is not there.
std::vector<StepRecord> kept_steps(const TrainingCourse& course, double duration_s);

/// Sequences per second of the `steps` that end within `duration_s` (above 0, a whole number of
/// minutes), averaged over each minute; `samples_per_worker`: that one worker's step stands for.
RateCurve rate_of(const std::vector<StepRecord>& steps, double samples_per_worker,
                  double duration_s);

/// Workers that train, averaged over the time of the steps that end within `duration_s`, undone
/// ones included; 0 without any.
double mean_workers(const std::vector<StepRecord>& steps, double duration_s);

}  // namespace assay::lazarus
