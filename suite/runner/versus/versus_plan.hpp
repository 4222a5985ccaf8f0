// What two builds are asked, and with which samples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/runner/adaptive/contrast.hpp"
#include "suite/runner/versus/versus.hpp"

namespace assay::runner {

/// One variant of one case.
struct BuildQuestion {
    const Experiment* experiment;
    std::vector<const PlannedSample*> rounds;
    std::vector<std::string> metrics;
    ArmRounds of_old, of_new;
    int complete = 0;  ///< rounds
    RoundsEnd end = RoundsEnd::open;
};

/// The samples of both programs: as many rounds as there may be.
Plan versus_plan(const Registry&, const VersusRequest&);

/// In the plan's order; they point into it.
std::vector<BuildQuestion> build_questions(const Plan&, const DecisionOptions&);

/// The control workload as long as the rounds; nothing where the registry does not have it, it
/// cannot be run at this profile, or it is what `plan` is about.
std::optional<Plan> control_plan(const Registry&, const VersusRequest&, const Plan& plan);

}  // namespace assay::runner
