// Profiles of experiments whose numbers are exact, whatever the machine.
#pragma once

#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay {

/// Toy, small and paper alike: the paper's own size takes milliseconds.
std::vector<ProfilePlan> exact_profiles(double seconds_per_sample);

}  // namespace assay
