// What one sample of lazarus/fig9 trains, and what of its course is stored: the same for paced and
// for simulated trainings, and for x_clocks, which holds the two against each other.
#pragma once

#include <string>
#include <vector>

#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

/// `spec` names every axis. `routing`: "synthetic" or the file of a routing trace.
SpotTraining spot_training_of(const SampleSpec& spec, int workers, const std::string& routing);

/// Sequences of the steps that count.
double samples_total(const TrainingCourse& course, const SpotTraining& training,
                     const Modelling& modelling);

/// Seconds of a modelled step while every node trains, median; NaN where none did.
double full_step_s(const TrainingCourse& course, const SpotTraining& training);

/// Metrics and curves of fig9 that do not ask how the training was driven.
void record_course(const TrainingCourse& course, const SpotTraining& training,
                   const Modelling& modelling, Recorder& recorder);

/// Metric "share" of the time by part: compute (of the steps `kept`), checkpoint, restart,
/// reconfiguration, lost.
void record_shares(const TrainingCourse& course, const std::vector<StepRecord>& kept,
                   double duration_s, Recorder& recorder);

/// NaN for none.
double median(std::vector<double> values);

}  // namespace assay::lazarus
