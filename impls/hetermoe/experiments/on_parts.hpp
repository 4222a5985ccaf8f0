// The figures on the paper's GPUs, measured on parts of one (profile gpu). Computed by
// parts/run_on_parts.cpp, in the module of tensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/hetermoe/simulated/point.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {

/// Why an arm cannot be measured on this machine, or at all.
std::optional<std::string> parts_lack(std::string_view arm);
void measure_on_parts(const Point& point, std::string_view arm, Recorder& recorder);

/// What such samples record besides.
std::vector<MetricSpec> parts_metrics();
/// Profile gpu with these axes, which has no calibration, of the variants that have such a version.
ProfilePlan parts_profile(std::map<std::string, std::vector<Value>> axes,
                          std::vector<std::string> variants);
/// What is to be said of it.
extern const char* const parts_say;

}  // namespace assay::hetermoe
