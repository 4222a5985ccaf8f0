// How many rounds a measured experiment takes that is given no number: as many as two such runs
// need to be told apart.
#pragma once

#include <cstddef>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::runner {

struct PrecisionOptions {
    double share = 0.05;    ///< relative; what two runs are to tell apart
    double budget_s = 600;  ///< of samples, of one experiment
    int max_rounds = 100;
};

/// Whether the figure's metric is measured and varies from round to round, so that more of them
/// tell more. Samples that run side by side measure no times.
bool gains_by_rounds(const Experiment&, const ProfilePlan&, Provenance);

/// The most rounds of such an experiment: those of its profile, and others while the budget lasts,
/// by the profile's estimate. `samples`: of one round.
int most_rounds(const ProfilePlan&, Provenance, std::size_t samples, const PrecisionOptions&);

/// Whether these values, one a round, are near enough to each other: of as many more like them the
/// interval of the ratio would stay within the share. Each round stands for the one before it.
bool is_precise(const std::vector<double>& values, double share);

}  // namespace assay::runner
