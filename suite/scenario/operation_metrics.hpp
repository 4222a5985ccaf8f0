// How an experiment records what named operations took, so that `assay calibrate fit` can read it:
// four metrics under the label `operation`, the work beside the seconds.
#pragma once

#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay {

inline constexpr const char* operation_label = "operation";
inline constexpr const char* operation_seconds = "operation_s";
inline constexpr const char* operation_flops = "operation_flops";
inline constexpr const char* operation_bytes = "operation_bytes";
inline constexpr const char* operation_kernels = "operation_kernels";

/// For Experiment::metrics.
std::vector<MetricSpec> operation_metrics();

/// Once per operation and sample. `seconds`: of doing the work once.
void record_operation(Recorder& recorder, const Operation& operation, double seconds);

}  // namespace assay
