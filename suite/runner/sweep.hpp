// From an experiment's axes and the user's narrowing to the list of cases.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/experiment/error.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::runner {

/// Most cases one experiment may expand into; beyond it the request is a typing error.
inline constexpr std::size_t max_cases = 1'000'000;

/// The product of the axes, the last axis turning fastest. An axis with an unnamed_value()
/// (axis_value.hpp) is in a case only where `narrowing` gives it another one. `narrowing` replaces
/// the sweep of the axes that it names; axes that the experiment does not have are ignored here
/// (make_plan() checks them). Throws UserError when a value is not among those of a closed axis.
std::vector<Case> cases(const Experiment& experiment, const ProfilePlan& profile,
                        const std::map<std::string, std::vector<Value>>& narrowing);

}  // namespace assay::runner
