// An experiment like Lazarus's Fig. 9: five variants live through the same 80 minutes.
#pragma once

#include <vector>

#include "suite/store/records.hpp"

namespace assay::report {

Experiment rivals_experiment();  ///< timeline; panels by `model`
/// 40 deaths and joins in 80 minutes for two models. The rates are made up: their size matters.
std::vector<store::Sample> rivals_samples();

}  // namespace assay::report
